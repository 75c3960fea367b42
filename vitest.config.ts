import { defineConfig } from 'vitest/config'

// One project after the other: they would fight over the machine, and some wait for seconds to pass.
export default defineConfig({
  test: {
    // Fails a test file whose services logged a secret.
    setupFiles: ['test/support/secret-watch-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A second is little on a machine that does other things as well.
    expect: { poll: { timeout: 15_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          sequence: { groupOrder: 0 },
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.integration.test.ts', 'test/compose/**'],
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          sequence: { groupOrder: 1 },
          include: ['test/**/*.integration.test.ts'],
          globalSetup: ['test/support/services.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'compose',
          sequence: { groupOrder: 2 },
          include: ['test/compose/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
})
