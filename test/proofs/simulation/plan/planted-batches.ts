import { AppError, isAppError } from '../../../../src/core/errors.ts'
import type { ChangedFiles } from '../../../../src/core/files/file-ledger.ts'
import { isMarker, parseFileName } from '../../../../src/core/files/file-name.ts'
import type { BatchOperation } from '../../../../src/core/files/operation.ts'
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

  'moves the files of a folder one by one': {
    sharedLedger: ({ ledger, ledgerReader }) => ({
      async changeFiles(batch) {
        const [operation] = batch.operations
        if (operation?.op !== 'rename-prefix') return ledger.changeFiles(batch)
        const { prefix, newPrefix, overwrite } = operation
        const names = ledgerReader
          .read()
          .files.filter((row) => row.user_id === batch.userId && row.name.startsWith(prefix))
          .map(({ name }) => name)
        if (names.length < 2) return ledger.changeFiles(batch)
        for (const name of names.slice(1)) {
          const newName = parseFileName(`${newPrefix}${name.slice(prefix.length)}`)
          const terms = { newName, overwrite, visibility: undefined, isKept: undefined }
          await ledger.changeFiles({ ...batch, operations: [{ op: 'update', name, ...terms }] })
        }
        return ledger.changeFiles(batch)
      },
    }),
  },

  'leaves the marker of a folder that it deletes': {
    sharedLedger: ({ ledger, ledgerReader }) => ({
      async changeFiles(batch) {
        const operations = batch.operations.flatMap((operation): readonly BatchOperation[] => {
          if (operation.op !== 'delete-prefix') return [operation]
          const { files } = ledgerReader.read()
          const below = files.filter(
            ({ user_id: userId, name }) =>
              userId === batch.userId && name.startsWith(operation.prefix) && !isMarker(name),
          )
          return below.length === 0
            ? [operation]
            : below.map(({ name }) => ({ op: 'delete', name, ignoresMissing: true }))
        })
        const done = await ledger.changeFiles({ ...batch, operations })
        const files = batch.operations.map((_, at) => done.files[at])
        return { ...done, files, matched: batch.operations.map(() => undefined) }
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
