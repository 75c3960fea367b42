import type { Steps, ShortcutOptions } from '../ledger/shortcuts.ts'
import { appendStatements, toClaim } from './append-statements.ts'
import { createUploadBatches } from './upload-batcher.ts'
import { uploadStatements } from './upload-statements.ts'

/** One statement per call, in batches for uploads. A call whose statement returns no row goes step by step. */
export function createShortcuts({ session, steps, runBatch }: ShortcutOptions): Steps {
  const { database, rule, execute, userSemaphore, queueTimeoutMs } = session
  const statements = uploadStatements(database.kysely, rule)
  const appends = appendStatements(database.kysely, rule)
  return {
    ...createUploadBatches({ statements, steps, runBatch, userSemaphore, queueTimeoutMs }),
    async claimAppend(claim) {
      const statement = appends.claim(claim)
      const [row] = statement ? await execute(claim.userId, statement) : []
      return row ? toClaim(row) : await steps.claimAppend(claim)
    },
    async recordAppend(record) {
      const statement = appends.record(record)
      const rows = statement ? await execute(record.userId, statement) : []
      return rows.length > 0 || (await steps.recordAppend(record))
    },
  }
}
