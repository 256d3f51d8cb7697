import { defineConfig } from 'vitest/config'

/** What takes longer: crash matrices, soak and fuzzing. Run by `npm run test:long`. */
export default defineConfig({
  test: {
    include: ['e2e/long/**/*.long.ts'],
    environment: 'node',
    fileParallelism: false,
    testTimeout: 30 * 60_000,
    hookTimeout: 60_000,
  },
})
