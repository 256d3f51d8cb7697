import { resolve } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const here = import.meta.dirname

/** Serves the window with a played core: `npx vite -c src-renderer/dev/vite.config.ts`, then /dev/index.html?scene=busy. */
export default defineConfig({
  root: resolve(here, '..'),
  base: './',
  plugins: [react(), tailwindcss()],
  build: { emptyOutDir: true, rollupOptions: { input: { dev: resolve(here, 'index.html') } } },
})
