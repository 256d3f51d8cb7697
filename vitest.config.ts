import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src-*/**/*.test.{ts,tsx}', 'scripts/**/*.test.mjs'],
    environment: 'node',
    setupFiles: ['scripts/property-seed.mjs'],
    // Two cores: more workers only make the real sshd and the real processes of the tests wait for each other.
    maxWorkers: 2,
    // Only what hangs is to fail by its time; a busy machine is no fault of the code.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
  },
})
