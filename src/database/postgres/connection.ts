import { hash } from 'node:crypto'
import { CompiledQuery, type DatabaseConnection, type QueryResult } from 'kysely'
import type { PoolClient, QueryConfig } from 'pg'
import { isAhead } from './ahead.ts'
import { isPrepared } from './prepared-statement.ts'

const BEGIN: QueryConfig = { text: 'BEGIN ISOLATION LEVEL READ COMMITTED' }

export const COMMIT = CompiledQuery.raw('COMMIT')
export const ROLLBACK = CompiledQuery.raw('ROLLBACK')

/** PostgreSQL answers COMMIT with ROLLBACK when a statement before it had failed. */
export class RolledBack extends Error {
  constructor() {
    super('COMMIT ended in ROLLBACK')
    this.name = 'RolledBack'
  }
}

const READS = /^\s*SELECT\b/i

export interface ConnectionOptions {
  /** Whether an error leaves the connection in doubt. */
  readonly isFailure: (error: unknown) => boolean
}

export class PostgresConnection implements DatabaseConnection {
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
    { isFailure, names }: ConnectionOptions & { readonly names: StatementNames },
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

  /** The server has undone what failed, so the connection is as good as before. */
  recover(): void {
    this.#failure = undefined
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
export function assertSendable({ parameters }: CompiledQuery): void {
  for (const value of parameters) {
    if (value === null || typeof value === 'string' || typeof value === 'number') continue
    throw new TypeError(`No ${typeof value} is sent ahead`)
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
