import { defineConfig } from 'vitest/config'
import { shared } from './vitest.shared.ts'
import { SliceSequencer } from './test/support/runner/slice-sequencer.ts'

/** The proof: what takes long by its nature. `npm run proof` runs all of it, `npm run proof -- --slice N/M` a part. */
export default defineConfig({
  test: {
    ...shared,
    name: 'proof',
    include: ['test/**/*.proof.test.ts'],
    globalSetup: ['test/support/service/services.ts'],
    sequence: { sequencer: SliceSequencer },
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
