import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'

/**
 * Kysely on an open `node:sqlite` database: statements one after the other, every transaction a
 * writing one.
 */
export function sqliteDialect(database: DatabaseSync): Dialect {
  return {
    createAdapter: () => new TransactionalSqliteAdapter(),
    createDriver: () => new SqliteDriver(database),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/**
 * Lets migrations run inside BEGIN IMMEDIATE, which is also the lock between processes that migrate
 * at once.
 */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** The driver and its one connection. */
class SqliteDriver implements Driver, DatabaseConnection {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, Prepared>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this
  }

  // A plain BEGIN takes the write lock at the first write, when what was read before may be out of
  // date.
  async beginTransaction(): Promise<void> {
    await this.executeQuery(CompiledQuery.raw('BEGIN IMMEDIATE'))
  }

  async commitTransaction(): Promise<void> {
    await this.executeQuery(CompiledQuery.raw('COMMIT'))
  }

  // After errors like a full disk SQLite has rolled back by itself, and ROLLBACK would hide that
  // error.
  async rollbackTransaction(): Promise<void> {
    if (this.#database.isTransaction) await this.executeQuery(CompiledQuery.raw('ROLLBACK'))
  }

  async releaseConnection(): Promise<void> {}

  // Kysely does not call this when no statement was ever run, so who opened the database closes it.
  async destroy(): Promise<void> {}

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { statement, hasRows } = this.#prepare(sql)
    const values = parameters.map(toSqlite)
    if (!hasRows) {
      const { changes } = statement.run(...values)
      return { numAffectedRows: BigInt(changes), rows: [] }
    }
    const rows = statement.all(...values)
    return { numAffectedRows: BigInt(rows.length), rows: rows as R[] }
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query)
  }

  #prepare(sql: string): Prepared {
    const cached = this.#statements.get(sql)
    if (cached !== undefined) return cached
    const statement = this.#database.prepare(sql)
    const prepared = { statement, hasRows: statement.columns().length > 0 }
    // Texts are few and fixed but for lists of parameters; forgetting the lot now and then bounds
    // those.
    if (this.#statements.size >= MAX_CACHED_STATEMENTS) this.#statements.clear()
    this.#statements.set(sql, prepared)
    return prepared
  }
}

const MAX_CACHED_STATEMENTS = 200

interface Prepared {
  readonly statement: StatementSync
  /** Whether it answers rows; to ask each time costs as much as a small statement. */
  readonly hasRows: boolean
}

// A number is bound as floating point, in which sums near 2^53 are not exact.
function toSqlite(value: unknown): SQLInputValue {
  if (value === undefined || value === null) return null
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (typeof value === 'string' || typeof value === 'bigint') return value
  throw new TypeError(`SQLite takes no ${typeof value} as a parameter`)
}
