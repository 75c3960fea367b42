import type { CompiledQuery } from 'kysely'
import type { Ledger } from '../core/ledger.ts'
import type { UserId } from '../core/user-id.ts'
import type { RunTogether } from './together.ts'
import { type CommittedRow, toCommitted, type UploadStatements } from './upload-statements.ts'
import type { UserTurns } from './user-turns.ts'

/** What of the ledger uploads do in groups. */
export type UploadLedger = Pick<Ledger, 'begin' | 'commit'>

export interface UploadGroupsOptions {
  readonly statements: UploadStatements
  /** Does what a statement does not: whatever has a precondition, and whatever is refused. */
  readonly steps: UploadLedger
  readonly runTogether: RunTogether
  readonly turns: UserTurns
}

/**
 * Has the uploads of one user share a transaction: one lock of the user's row, one write to the disk. While one group is
 * under way the next one gathers, for as long as it waits for the lock, so a group is as large as the crowd.
 */
export function createUploadGroups(options: UploadGroupsOptions): UploadLedger {
  const { statements, steps, runTogether, turns } = options
  const gathering = new Map<UserId, Member[]>()

  /** Resolves with the row that the statement answers; `undefined` when it took no effect. */
  function join(userId: UserId, query: CompiledQuery): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const member = { query, resolve, reject }
    const members = gathering.get(userId)
    if (members !== undefined && members.length < MAX_MEMBERS) {
      members.push(member)
      return promise
    }
    const group = [member]
    gathering.set(userId, group)
    void run(userId, group)
    return promise
  }

  async function run(userId: UserId, members: readonly Member[]): Promise<void> {
    const close = (): void => {
      if (gathering.get(userId) === members) gathering.delete(userId)
    }
    const take = (): CompiledQuery[] => {
      close()
      return members.map(({ query }) => query)
    }
    try {
      const lock = statements.lock({ userId })
      const answers = await turns(userId, () => runTogether({ lock, take }))
      for (const [index, { resolve }] of members.entries()) resolve(answers?.[index]?.rows[0])
    } catch (error) {
      close()
      for (const { reject } of members) reject(error)
    }
  }

  return {
    async begin(upload) {
      const { userId, precondition } = upload
      const row = precondition === undefined && (await join(userId, statements.begin(upload)))
      if (!row) await steps.begin(upload)
    },

    async commit(upload) {
      const { userId, precondition } = upload
      const row = precondition === undefined && (await join(userId, statements.commit(upload)))
      return row ? toCommitted(row as CommittedRow) : steps.commit(upload)
    },
  }
}

/** Bounds what one transaction holds up. */
const MAX_MEMBERS = 64

interface Member {
  readonly query: CompiledQuery
  readonly resolve: (row: unknown) => void
  readonly reject: (error: unknown) => void
}
