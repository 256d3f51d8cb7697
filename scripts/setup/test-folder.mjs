import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll } from 'vitest'

const made = []

afterAll(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

/** A fresh folder for a test, removed when the tests of its file are over. */
export function testFolder() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'nomos-test-'))
  made.push(folder)
  return folder
}
