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

/** Runs statements one after the other; every transaction is a write transaction. */
export function sqliteDialect(driver: SqliteDriver): Dialect {
  return {
    createAdapter: () => new TransactionalSqliteAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/** Lets migrations run inside BEGIN IMMEDIATE, which also locks out other migrating processes. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

export class SqliteDriver implements Driver, DatabaseConnection {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, Prepared>()
  /** How many statements have changed rows, or may have. */
  writes = 0

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this
  }

  // A plain BEGIN takes the write lock at the first write, when earlier reads may be stale.
  async beginTransaction(): Promise<void> {
    await this.executeQuery(CompiledQuery.raw('BEGIN IMMEDIATE'))
  }

  async commitTransaction(): Promise<void> {
    await this.executeQuery(CompiledQuery.raw('COMMIT'))
  }

  // After errors like a full disk SQLite has already rolled back, and ROLLBACK would mask the error.
  async rollbackTransaction(): Promise<void> {
    if (this.#database.isTransaction) await this.executeQuery(CompiledQuery.raw('ROLLBACK'))
  }

  async releaseConnection(): Promise<void> {}

  // Kysely skips this if no statement ran, so the opener of the database closes it.
  async destroy(): Promise<void> {}

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { statement, hasRows, isSelect } = this.#prepare(sql)
    const values = parameters.map(toSqlite)
    if (!hasRows) {
      const { changes } = statement.run(...values)
      if (changes > 0) this.writes += 1
      return { numAffectedRows: BigInt(changes), rows: [] }
    }
    const rows = statement.all(...values)
    if (!isSelect && rows.length > 0) this.writes += 1
    return { numAffectedRows: BigInt(rows.length), rows: rows as R[] }
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query)
  }

  #prepare(sql: string): Prepared {
    const cached = this.#statements.get(sql)
    if (cached !== undefined) return cached
    const statement = this.#database.prepare(sql)
    const isSelect = /^\s*SELECT\b/i.test(sql)
    const prepared = { statement, hasRows: statement.columns().length > 0, isSelect }
    // Texts vary only in their parameter lists; clearing the cache bounds those.
    if (this.#statements.size >= MAX_CACHED_STATEMENTS) this.#statements.clear()
    this.#statements.set(sql, prepared)
    return prepared
  }
}

const MAX_CACHED_STATEMENTS = 200

interface Prepared {
  readonly statement: StatementSync
  /** Cached, because asking costs as much as a small statement. */
  readonly hasRows: boolean
  readonly isSelect: boolean
}

// A number is bound as floating point, where sums near 2^53 are inexact.
function toSqlite(value: unknown): SQLInputValue {
  if (value === undefined || value === null) return null
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (typeof value === 'string' || typeof value === 'bigint') return value
  throw new TypeError(`SQLite accepts no parameter of type ${typeof value}`)
}
