import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'
import { CompiledQuery, type Kysely, type Transaction } from 'kysely'
import type { Execute, Transact } from '../database.ts'
import type { Tables } from '../schema.ts'

export interface GroupCommitOptions {
  readonly kysely: Kysely<Tables>
  /** Runs a statement in the open transaction. */
  readonly execute: Execute
  /** False after errors on which SQLite has already rolled back. */
  readonly isInTransaction: () => boolean
}

/**
 * Concurrent transactions share one COMMIT and so one disk write, in call order. Each has a savepoint: one that throws
 * is undone alone, and later ones see the changes of earlier ones. Nobody is answered before the COMMIT, not even with
 * a refusal, since its reason may be another's change. If the COMMIT fails, all reject with its error.
 */
export function createGroupCommit(options: GroupCommitOptions): Transact {
  const waiting: Member[] = []
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    while (waiting.length > 0) {
      // Lets transactions that are ready join, and other work run between two groups.
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
  /** Resolves to a function that reports success to the caller. */
  readonly attempt: (tx: Transaction<Tables>) => Promise<Tell>
  readonly reject: (error: unknown) => void
}

type Tell = () => void

async function commitTogether(
  members: readonly Member[],
  { kysely, execute, isInTransaction }: GroupCommitOptions,
): Promise<void> {
  try {
    const tells = await kysely.transaction().execute(async (tx) => {
      const isAlone = members.length === 1
      const done: Tell[] = []
      for (const member of members) {
        const attempt = isAlone
          ? member.attempt(tx)
          : undoAlone(tx, { member, execute, isInTransaction })
        done.push(await attempt)
      }
      return done
    })
    for (const tell of tells) tell()
  } catch (error) {
    for (const { reject } of members) reject(error)
  }
}

const SAVEPOINT = CompiledQuery.raw('SAVEPOINT member')
const RELEASE = CompiledQuery.raw('RELEASE member')
const ROLLBACK = CompiledQuery.raw('ROLLBACK TO member')

async function undoAlone(
  tx: Transaction<Tables>,
  { member, execute, isInTransaction }: { member: Member } & Omit<GroupCommitOptions, 'kysely'>,
): Promise<Tell> {
  await execute(SAVEPOINT)
  try {
    const tell = await member.attempt(tx)
    await execute(RELEASE)
    return tell
  } catch (error) {
    if (!isInTransaction()) throw error
    await execute(ROLLBACK)
    await execute(RELEASE)
    return () => member.reject(error)
  }
}
