import {
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely'
import type { Pool } from 'pg'
import {
  BEGIN,
  COMMIT,
  type ConnectionOptions,
  PostgresConnection,
  ROLLBACK,
  StatementNames,
} from './connection.ts'

interface PostgresDialectOptions extends ConnectionOptions {
  readonly pool: Pool
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
  readonly #names = new StatementNames()

  constructor(options: PostgresDialectOptions) {
    this.#options = options
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
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

  // Kysely does not call this when no statement was ever run, so who made the pool ends it.
  async destroy(): Promise<void> {}
}
