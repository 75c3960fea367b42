import { hash } from 'node:crypto'
import { CompiledQuery, type DatabaseConnection, type QueryResult } from 'kysely'
import type { PoolClient, QueryConfig } from 'pg'
import { isPrepared } from './prepared-statement.ts'

// The statements are written for this level; a server can be set to another default.
export const BEGIN = CompiledQuery.raw('BEGIN ISOLATION LEVEL READ COMMITTED')
export const COMMIT = CompiledQuery.raw('COMMIT')
export const ROLLBACK = CompiledQuery.raw('ROLLBACK')

/** PostgreSQL answers COMMIT with ROLLBACK when a statement before it had failed. */
export class RolledBack extends Error {
  constructor() {
    super('COMMIT ended in ROLLBACK')
    this.name = 'RolledBack'
  }
}

export interface ConnectionOptions {
  /** Whether an error leaves the connection in doubt. */
  readonly isFailure: (error: unknown) => boolean
}

export class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient
  readonly #isFailure: (error: unknown) => boolean
  readonly #names: StatementNames
  #failure: { readonly error: unknown } | undefined

  constructor(
    client: PoolClient,
    { isFailure, names }: ConnectionOptions & { readonly names: StatementNames },
  ) {
    this.#client = client
    this.#isFailure = isFailure
    this.#names = names
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    // The ROLLBACK that follows must neither wait nor hide why; closing the connection rolls back.
    if (this.#failure !== undefined) throw this.#failure.error
    try {
      const { command, rowCount, rows } = await this.#client.query(this.#toRequest(query))
      if (query === COMMIT && command !== 'COMMIT') throw new RolledBack()
      return { numAffectedRows: BigInt(rowCount ?? 0), rows: rows as R[] }
    } catch (error) {
      if (this.#isFailure(error)) this.#failure = { error }
      throw error
    }
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query)
  }

  /** The server has undone what failed, so the connection is as good as before. */
  recover(): void {
    this.#failure = undefined
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

/** For what is sent before an answer: COMMIT has left before `pg` says that it could not even send a statement. */
export function assertSendable({ parameters }: CompiledQuery): void {
  for (const value of parameters) {
    if (value === null || typeof value === 'string' || typeof value === 'number') continue
    throw new TypeError(`No ${typeof value} is sent without waiting`)
  }
}

/** One name for each text, the same everywhere: behind a pooler another instance's name must never stand for another text. */
export class StatementNames {
  readonly #names = new Map<string, string>()

  nameOf(sql: string): string {
    const name = this.#names.get(sql) ?? `s${hash('sha256', sql).slice(0, 31)}`
    this.#names.set(sql, name)
    return name
  }
}
