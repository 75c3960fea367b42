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

class PostgresDriver implements Driver {
  readonly #options: PostgresDialectOptions

  constructor(options: PostgresDialectOptions) {
    this.#options = options
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return new PostgresConnection(await this.#options.pool.connect(), this.#options.isFailure)
  }

  // The statements are written for this level; a server can be set to another default.
  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('BEGIN ISOLATION LEVEL READ COMMITTED'))
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('COMMIT'))
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('ROLLBACK'))
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof PostgresConnection) connection.release()
  }

  // Kysely does not call this when no statement was ever run, so who made the pool ends it.
  async destroy(): Promise<void> {}
}

class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient
  readonly #isFailure: (error: unknown) => boolean
  #failure: { readonly error: unknown } | undefined

  constructor(client: PoolClient, isFailure: (error: unknown) => boolean) {
    this.#client = client
    this.#isFailure = isFailure
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    // The ROLLBACK that follows must neither wait nor hide why; closing the connection rolls back.
    if (this.#failure !== undefined) throw this.#failure.error
    try {
      const { command, rowCount, rows } = await this.#client.query(sql, [...parameters])
      // PostgreSQL answers COMMIT with ROLLBACK when a statement before it had failed.
      if (sql === 'COMMIT' && command !== sql) throw new Error(`COMMIT ended in ${command}`)
      return { numAffectedRows: BigInt(rowCount ?? 0), rows: rows as R[] }
    } catch (error) {
      if (this.#isFailure(error)) this.#failure = { error }
      throw error
    }
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query)
  }

  release(): void {
    this.#client.release(this.#failure !== undefined)
  }
}
