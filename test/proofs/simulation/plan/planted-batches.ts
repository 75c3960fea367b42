import { AppError, isAppError } from '../../../../src/core/errors.ts'
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

  'refuses batches that fit': {
    sharedLedger: ({ ledger }) => ({
      async changeFiles(batch) {
        if (!batch.operations.some(({ op }) => op === 'restore')) return ledger.changeFiles(batch)
        throw new AppError('capacity_exceeded', 'It is full.', { facts: { operation: 0 } })
      },
    }),
  },

  'does not tell which operation is refused': {
    sharedLedger: ({ ledger }) => ({
      async changeFiles(batch) {
        try {
          return await ledger.changeFiles(batch)
        } catch (error) {
          if (!isAppError(error)) throw error
          throw new AppError(error.code, error.message)
        }
      },
    }),
  },
}
