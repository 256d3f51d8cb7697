import { resolve } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'electron-vite'

const root = import.meta.dirname

/** Three bundles: the trusted core (with the `nomos` command beside it), the sandboxed bridge, the window. */
export default defineConfig({
  main: {
    build: {
      outDir: 'out/main',
      // Electron 45 is what we ship with; the development runtime is Electron 33, and the command line runs on Node 20.
      target: 'node20.18',
      // Pure JavaScript goes into the bundle: hundreds of small files cost a start more than what is in them.
      externalizeDeps: {
        exclude: ['zod', 'yaml', 'js-yaml', 'json5', 'unbash', 're2js', 'minimatch', '@jellybrick/dbus-next'],
      },
      rollupOptions: {
        input: {
          index: resolve(root, 'src-main/index.ts'),
          cli: resolve(root, 'src-main/cli/main.ts'),
          headless: resolve(root, 'src-main/cli/headless.ts'),
          // Under its own name for the benches, which drive the core without a window.
          core: resolve(root, 'src-main/compose.ts'),
        },
        external: ['better-sqlite3-napi9'],
        output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
      },
    },
  },
  preload: {
    build: {
      outDir: 'out/preload',
      target: 'node20.18',
      // A sandboxed preload can require nothing but electron, so it has to be one self-contained CommonJS file.
      externalizeDeps: { exclude: ['zod'] },
      rollupOptions: {
        input: { index: resolve(root, 'src-preload/index.ts') },
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer: {
    root: resolve(root, 'src-renderer'),
    plugins: [react(), tailwindcss()],
    build: {
      outDir: resolve(root, 'out/renderer'),
      emptyOutDir: true,
      target: 'chrome130',
      // Parsing counts at every start: a window is usable sooner with less to read.
      minify: true,
      rollupOptions: { input: { index: resolve(root, 'src-renderer/index.html') } },
    },
  },
})
