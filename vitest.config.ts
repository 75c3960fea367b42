import { defineConfig } from 'vitest/config'
import { shared } from './vitest.shared.ts'

/** The gate: what `npm test` runs, and CI on every landing. */
export default defineConfig({
  test: {
    ...shared,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.{integration,proof}.test.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/**/*.integration.test.ts'],
          globalSetup: ['test/support/service/services.ts'],
        },
      },
    ],
  },
})
