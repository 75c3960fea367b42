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
import type { Pool, PoolClient } from 'pg'
import type { Batch, RunBatch } from '../database.ts'

export interface ConnectionOptions {
  readonly pool: Pool
  /** Whether an error leaves the connection in doubt. */
  readonly isFailure: (error: unknown) => boolean
}

/** Closes a connection after a failure: `pg` leaves a timed-out query on the wire, which its next user would await. */
export function postgresDialect(options: ConnectionOptions): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PostgresDriver(options),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

export function createRunBatch({ pool, isFailure }: ConnectionOptions): RunBatch {
  const names = new Map<string, string>()
  return async ({ lock, take }) => {
    const connection = new PostgresConnection(await pool.connect(), { isFailure, names })
    try {
      const queries = await lockAndTake(connection, { lock, take })
      return queries && (await commitBatch(connection, queries))
    } finally {
      connection.release()
    }
  }
}

async function lockAndTake(
  connection: PostgresConnection,
  { lock, take }: Batch,
): Promise<readonly CompiledQuery[] | undefined> {
  try {
    // If BEGIN fails and the session lives, the lock ends with its own statement, and nothing else is sent.
    const [, { rows }] = await Promise.all([
      connection.executeQuery(BEGIN),
      connection.executeQuery(lock),
    ])
    if (rows.length > 0) {
      const queries = take(rows)
      assertSendable(queries)
      return queries
    }
  } catch (error) {
    await connection.executeQuery(ROLLBACK).catch(() => undefined)
    throw error
  }
  await connection.executeQuery(ROLLBACK)
  return undefined
}

/** `pg` reports an unsendable statement only after COMMIT has left. */
function assertSendable(queries: readonly CompiledQuery[]): void {
  for (const { parameters } of queries) {
    for (const value of parameters) {
      if (value === null || typeof value === 'string' || typeof value === 'number') continue
      throw new TypeError(`Pipelined statements accept no parameter of type ${typeof value}`)
    }
  }
}

async function commitBatch(connection: PostgresConnection, queries: readonly CompiledQuery[]) {
  const answers: Promise<QueryResult<unknown>>[] = []
  for (const query of queries) answers.push(connection.executeQuery(query))
  const committed = connection.executeQuery(COMMIT)
  const [end, ...ended] = await Promise.allSettled([committed, ...answers])
  if (end.status === 'rejected' && end.reason instanceof RolledBack) {
    connection.recover()
    return undefined
  }
  for (const each of [...ended, end]) if (each.status === 'rejected') throw each.reason
  return await Promise.all(answers)
}

class PostgresDriver implements Driver {
  readonly #options: ConnectionOptions
  readonly #names = new Map<string, string>()

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    const { pool, isFailure } = this.#options
    return new PostgresConnection(await pool.connect(), { isFailure, names: this.#names })
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(BEGIN)
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(COMMIT)
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(ROLLBACK)
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof PostgresConnection) connection.release()
  }

  // Kysely skips this if no statement ran, so the creator of the pool ends it.
  async destroy(): Promise<void> {}
}

class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient
  readonly #isFailure: (error: unknown) => boolean
  readonly #names: Map<string, string>
  #failure: { readonly error: unknown } | undefined
  #isUnconfirmed = false

  constructor(
    client: PoolClient,
    {
      isFailure,
      names,
    }: Pick<ConnectionOptions, 'isFailure'> & { readonly names: Map<string, string> },
  ) {
    this.#client = client
    this.#isFailure = isFailure
    this.#names = names
    client.on('notice', this.#onNotice)
  }

  async executeQuery<R>({ query, sql: text, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    // The ROLLBACK that follows must neither wait nor mask the failure; closing the connection rolls back.
    if (this.#failure !== undefined) throw this.#failure.error
    try {
      const values = [...parameters]
      const name =
        this.#names.get(text) ?? ('isPrepared' in query && nameStatement(this.#names, text))
      const { command, rowCount, rows } = await this.#client.query(
        name ? { text, values, name } : { text, values },
      )
      if (this.#isUnconfirmed) throw new Unconfirmed()
      // The server answers COMMIT with ROLLBACK if an earlier statement failed.
      if (query === COMMIT.query && command !== 'COMMIT') throw new RolledBack()
      return { numAffectedRows: BigInt(rowCount ?? 0), rows: rows as R[] }
    } catch (error) {
      if (this.#isFailure(error)) this.#failure = { error }
      throw error
    }
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query)
  }

  recover(): void {
    this.#failure = undefined
  }

  release(): void {
    this.#client.off('notice', this.#onNotice)
    this.#client.release(this.#failure !== undefined)
  }

  /** If the wait for a synchronous standby is cancelled, the server warns, and then reports the commit as done. */
  readonly #onNotice = ({ routine }: { readonly routine: string | undefined }): void => {
    if (routine === 'SyncRepWaitForLSN') this.#isUnconfirmed = true
  }
}

// The statements are written for this level; a server can have another default.
const BEGIN = CompiledQuery.raw('BEGIN ISOLATION LEVEL READ COMMITTED')
const COMMIT = CompiledQuery.raw('COMMIT')
const ROLLBACK = CompiledQuery.raw('ROLLBACK')

class RolledBack extends Error {
  constructor() {
    super('COMMIT ended in ROLLBACK')
    this.name = 'RolledBack'
  }
}

class Unconfirmed extends Error {
  constructor() {
    super('The wait of a COMMIT for the synchronous standby was cancelled')
    this.name = 'Unconfirmed'
  }
}

/** Derived from the text: behind a pooler, another instance's name must never mean another text. */
function nameStatement(names: Map<string, string>, text: string): string {
  const name = `s${hash('sha256', text).slice(0, 31)}`
  names.set(text, name)
  return name
}
