import { defineConfig } from 'vitest/config'

/** The real app in a real window: one at a time, since two cores would only make them wait for each other. */
export default defineConfig({
  test: {
    include: ['e2e/**/*.spec.ts'],
    environment: 'node',
    fileParallelism: false,
    maxWorkers: 1,
    testTimeout: 90_000,
    hookTimeout: 60_000,
  },
})
