import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** What the app's own build puts into the bundle too: pure JavaScript. */
const BUNDLED = ['zod', 'yaml', 'js-yaml', 'json5', 'unbash', 're2js', 'minimatch']

/**
 * The parts under test, bundled from the sources of this checkout as they are.
 * @param {string} entry a file of this folder that exports them
 */
export async function loadParts(entry) {
  const { build } = await import('vite')
  const root = resolve(import.meta.dirname, '../..')
  const parent = join(root, 'out')
  mkdirSync(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, 'bench-'))
  try {
    await build({
      root,
      configFile: false,
      logLevel: 'error',
      build: {
        ssr: join(import.meta.dirname, entry),
        outDir: folder,
        target: 'node20.18',
        rollupOptions: { output: { format: 'es', entryFileNames: 'parts.mjs' } },
      },
      ssr: { noExternal: BUNDLED },
    })
    return await import(pathToFileURL(join(folder, 'parts.mjs')).href)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
