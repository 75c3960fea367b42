import type { ChangedFiles } from '../../../../src/core/files/file-ledger.ts'
import type { Variant } from '../world/world.ts'

/** Bugs that batches could have. The checker must find them all. */
export const PLANTED_BATCH_BUGS: Readonly<Record<string, Variant>> = {
  'performs the operations of a batch one by one': {
    sharedLedger: ({ ledger }) => ({
      async changeFiles(batch) {
        const done: ChangedFiles[] = []
        for (const operation of batch.operations) {
          done.push(await ledger.changeFiles({ ...batch, operations: [operation] }))
        }
        const last = done.at(-1) ?? (await ledger.changeFiles(batch))
        return { ...last, files: done.flatMap(({ files }) => files) }
      },
    }),
  },

  'refuses a batch that fits': {
    sharedLedger: ({ ledger }) => ({
      changeFiles: (batch) => ledger.changeFiles({ ...batch, maxFiles: 1 }),
    }),
  },
}
