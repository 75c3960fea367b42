import { hash } from 'node:crypto'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import type { Pool, PoolClient, QueryConfig } from 'pg'
import { isAhead } from './ahead.ts'
import { isPrepared } from './prepared.ts'
import type { Batch, RunBatch } from './batch.ts'

interface PostgresDialectOptions {
  readonly pool: Pool
  /** Whether an error leaves the connection in doubt. */
  readonly isFailure: (error: unknown) => boolean
}

/**
 * Kysely on `pg`. Unlike Kysely's own driver it never gives a connection back to the pool after a
 * failure: `pg` leaves a query that ran out of time on the wire, and the next user of that
 * connection would wait for it in turn.
 */
export function postgresDialect(options: PostgresDialectOptions): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PostgresDriver(options),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

/** On a connection of its own from the pool. */
export function createRunBatch({ pool, isFailure }: PostgresDialectOptions): RunBatch {
  const names = new StatementNames()
  return async ({ lock, take }) => {
    const connection = new PostgresConnection(await pool.connect(), { isFailure, names })
    try {
      return await connection.runBatch({ lock, take })
    } finally {
      connection.release()
    }
  }
}

class PostgresDriver implements Driver {
  readonly #options: PostgresDialectOptions
  readonly #names = new StatementNames()

  constructor(options: PostgresDialectOptions) {
    this.#options = options
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const { pool, isFailure } = this.#options
    return new PostgresConnection(await pool.connect(), { isFailure, names: this.#names })
  }

  // The statements are written for this level; a server can be set to another default.
  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof PostgresConnection) connection.begin()
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(COMMIT)
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof PostgresConnection) await connection.forgetAhead()
    await connection.executeQuery(ROLLBACK)
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof PostgresConnection) connection.release()
  }

  // Kysely does not call this when no statement was ever run, so who made the pool ends it.
  async destroy(): Promise<void> {}
}

const BEGIN: QueryConfig = { text: 'BEGIN ISOLATION LEVEL READ COMMITTED' }

const COMMIT = CompiledQuery.raw('COMMIT')
const ROLLBACK = CompiledQuery.raw('ROLLBACK')

class RolledBack extends Error {
  constructor() {
    super('COMMIT ended in ROLLBACK')
    this.name = 'RolledBack'
  }
}

const READS = /^\s*SELECT\b/i

class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient
  readonly #isFailure: (error: unknown) => boolean
  readonly #names: StatementNames
  /** Answers that nobody has looked at yet. */
  #ahead: Promise<unknown>[] = []
  /** Whether BEGIN has been sent and not been answered. */
  #isBeginning = false
  #failure: { readonly error: unknown } | undefined

  constructor(
    client: PoolClient,
    { isFailure, names }: Pick<PostgresDialectOptions, 'isFailure'> & { names: StatementNames },
  ) {
    this.#client = client
    this.#isFailure = isFailure
    this.#names = names
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { sql } = query
    // The ROLLBACK that follows must neither wait nor hide why; closing the connection rolls back.
    if (this.#failure !== undefined) throw this.#failure.error
    // Should BEGIN fail, and the session live, a change would stand alone.
    if (this.#isBeginning && !READS.test(sql)) await this.#awaitBegin()
    if (isAhead(query)) {
      assertSendable(query)
      this.sendAhead(this.#toRequest(query))
      return { rows: [] }
    }
    try {
      const answer = this.#client.query(this.#toRequest(query))
      // Answers come in the order of the statements, so what failed first is what is thrown.
      const [{ command, rowCount, rows }] = await Promise.all([answer, ...this.#ahead.splice(0)])
      this.#isBeginning = false
      // PostgreSQL answers COMMIT with ROLLBACK when a statement before it had failed.
      if (sql === 'COMMIT' && command !== sql) throw new RolledBack()
      return { numAffectedRows: BigInt(rowCount ?? 0), rows: rows as R[] }
    } catch (error) {
      if (this.#isFailure(error)) this.#failure = { error }
      throw error
    }
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query)
  }

  begin(): void {
    this.#isBeginning = true
    this.sendAhead(BEGIN)
  }

  async runBatch({ lock, take }: Batch): Promise<Awaited<ReturnType<RunBatch>>> {
    this.begin()
    let queries: readonly CompiledQuery[]
    try {
      const { rows } = await this.executeQuery(lock)
      queries = take(rows)
      for (const query of queries) assertSendable(query)
      if (rows.length === 0) {
        await this.executeQuery(ROLLBACK)
        return undefined
      }
    } catch (error) {
      await this.executeQuery(ROLLBACK).catch(() => undefined)
      throw error
    }
    const answers = queries.map((query) => this.executeQuery(query))
    const committed = this.executeQuery(COMMIT)
    const [ended, [end]] = await Promise.all([
      Promise.allSettled(answers),
      Promise.allSettled([committed]),
    ])
    // One of them failed, so the server has undone all; the connection is as good as before.
    if (end.status === 'rejected' && end.reason instanceof RolledBack) {
      this.#failure = undefined
      return undefined
    }
    for (const each of [...ended, end]) if (each.status === 'rejected') throw each.reason
    return await Promise.all(answers)
  }

  async #awaitBegin(): Promise<void> {
    try {
      await Promise.all(this.#ahead.splice(0))
      this.#isBeginning = false
    } catch (error) {
      if (this.#isFailure(error)) this.#failure = { error }
      throw error
    }
  }

  sendAhead(request: QueryConfig): void {
    const answer = this.#client.query(request)
    // It is looked at later, and must not count as floating until then.
    answer.catch(() => undefined)
    this.#ahead.push(answer)
  }

  /** What failed is rolled back, and why has been thrown. */
  async forgetAhead(): Promise<void> {
    await Promise.allSettled(this.#ahead.splice(0))
  }

  #toRequest(query: CompiledQuery): QueryConfig {
    const { sql, parameters } = query
    const request = { text: sql, values: [...parameters] }
    return isPrepared(query) ? { ...request, name: this.#names.nameOf(sql) } : request
  }

  release(): void {
    this.#client.release(this.#failure !== undefined)
  }
}

/** COMMIT has left before anybody hears that `pg` could not even send a statement, so that must not happen. */
function assertSendable({ parameters }: CompiledQuery): void {
  for (const value of parameters) {
    if (value === null || typeof value === 'string' || typeof value === 'number') continue
    throw new TypeError(`No ${typeof value} is sent ahead`)
  }
}

/** One name for each text, the same everywhere: behind a pooler another instance's name must never stand for another text. */
class StatementNames {
  readonly #names = new Map<string, string>()

  nameOf(sql: string): string {
    const name = this.#names.get(sql) ?? `s${hash('sha256', sql).slice(0, 31)}`
    this.#names.set(sql, name)
    return name
  }
}
