import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Tables } from '../schema.ts'

export interface GroupCommitOptions {
  readonly kysely: Kysely<Tables>
  /** Whether the transaction still stands; after some errors a database has rolled it back by itself. */
  readonly isInTransaction: () => boolean
}

/** Runs `work` in a transaction that is durable when it resolves; rejects with what `work` or the database threw. */
export type Transact = <T>(work: (tx: Transaction<Tables>) => Promise<T>) => Promise<T>

/**
 * Has transactions that are asked for at the same time share one COMMIT, and so one write to the disk. Each has a
 * savepoint: one that throws is undone alone, and those after it see what those before it did. Nobody hears anything
 * before the COMMIT, not even a refusal, since its reason may be what another one wrote. When that fails none has
 * happened, and all reject with its error. They run in the order in which they were asked for.
 */
export function createGroupCommit(options: GroupCommitOptions): Transact {
  const waiting: Member[] = []
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    while (waiting.length > 0) {
      // All that the event loop has at hand comes in before, and plain queries and other work between two groups.
      await setImmediate()
      await commitTogether(waiting.splice(0, MAX_MEMBERS), options)
    }
    isRunning = false
  }

  return (work) =>
    new Promise((resolve, reject) => {
      const attempt = AsyncLocalStorage.bind(async (tx: Transaction<Tables>) => {
        const value = await work(tx)
        return () => resolve(value)
      })
      waiting.push({ attempt, reject })
      if (!isRunning) void run()
    })
}

/** Bounds how long the thread does nothing else. */
const MAX_MEMBERS = 64

interface Member {
  /** Does the work and answers how to tell that it is done. */
  readonly attempt: (tx: Transaction<Tables>) => Promise<Tell>
  readonly reject: (error: unknown) => void
}

type Tell = () => void

async function commitTogether(
  members: readonly Member[],
  { kysely, isInTransaction }: GroupCommitOptions,
): Promise<void> {
  try {
    const tells = await kysely.transaction().execute(async (tx) => {
      const isAlone = members.length === 1
      const done: Tell[] = []
      for (const member of members) {
        const attempt = isAlone ? member.attempt(tx) : undoAlone(tx, { member, isInTransaction })
        done.push(await attempt)
      }
      return done
    })
    for (const tell of tells) tell()
  } catch (error) {
    for (const { reject } of members) reject(error)
  }
}

/** Attempts one of several, whose failure undoes nothing of the others. */
async function undoAlone(
  tx: Transaction<Tables>,
  { member, isInTransaction }: { member: Member } & Pick<GroupCommitOptions, 'isInTransaction'>,
): Promise<Tell> {
  await sql`SAVEPOINT member`.execute(tx)
  try {
    const tell = await member.attempt(tx)
    await sql`RELEASE member`.execute(tx)
    return tell
  } catch (error) {
    if (!isInTransaction()) throw error
    await sql`ROLLBACK TO member`.execute(tx)
    await sql`RELEASE member`.execute(tx)
    return () => member.reject(error)
  }
}
