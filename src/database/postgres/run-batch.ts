import type { CompiledQuery } from 'kysely'
import type { Pool } from 'pg'
import type { Batch, RunBatch } from './batch.ts'
import {
  assertSendable,
  BEGIN,
  COMMIT,
  type ConnectionOptions,
  PostgresConnection,
  ROLLBACK,
  RolledBack,
  StatementNames,
} from './connection.ts'

/** Each batch has a connection of its own from the pool. */
export function createRunBatch({
  pool,
  isFailure,
}: ConnectionOptions & { readonly pool: Pool }): RunBatch {
  const names = new StatementNames()
  return async (batch) => {
    const connection = new PostgresConnection(await pool.connect(), { isFailure, names })
    try {
      return await runBatch(connection, batch)
    } finally {
      connection.release()
    }
  }
}

async function runBatch(connection: PostgresConnection, batch: Batch) {
  const queries = await lockAndTake(connection, batch)
  if (queries === undefined) return undefined
  const answers = queries.map((query) => connection.executeQuery(query))
  const committed = connection.executeQuery(COMMIT)
  const [ended, [end]] = await Promise.all([
    Promise.allSettled(answers),
    Promise.allSettled([committed]),
  ])
  if (end.status === 'rejected' && end.reason instanceof RolledBack) {
    connection.recover()
    return undefined
  }
  for (const each of [...ended, end]) if (each.status === 'rejected') throw each.reason
  return await Promise.all(answers)
}

async function lockAndTake(
  connection: PostgresConnection,
  { lock, take }: Batch,
): Promise<readonly CompiledQuery[] | undefined> {
  try {
    // Should BEGIN fail, and the session live, the lock ends with its own statement, and nothing else is sent.
    const [, { rows }] = await Promise.all([
      connection.executeQuery(BEGIN),
      connection.executeQuery(lock),
    ])
    if (rows.length > 0) {
      const queries = take(rows)
      for (const query of queries) assertSendable(query)
      return queries
    }
  } catch (error) {
    await connection.executeQuery(ROLLBACK).catch(() => undefined)
    throw error
  }
  await connection.executeQuery(ROLLBACK)
  return undefined
}
