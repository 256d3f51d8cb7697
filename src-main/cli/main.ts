#!/usr/bin/env node
import { processIo } from './io'
import { run } from './program'

// A reader that went away (`nomos … | head`) is no fault of ours, and there is nobody left to tell.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0)
  throw error
})

// The code is set and not forced: what is still on its way to a pipe gets there.
process.exitCode = await run(process.argv.slice(2), processIo())
