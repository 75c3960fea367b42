import { sql } from 'kysely'
import { AppError } from '../../core/errors.ts'
import type { File } from '../../core/files/file.ts'
import type { FileName, FileNamePrefix } from '../../core/files/file-name.ts'
import { MAX_MATCHED, MAX_OPERATIONS } from '../../core/files/operation.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { isCurrent, type LedgerTx } from '../ledger/ledger-sql.ts'
import { readFiles, type TimedFile } from '../ledger/read-files.ts'
import { FILE_COLUMNS } from '../ledger/rows.ts'
import { isInRange } from '../prefix-range.ts'
import type { Holdings } from './holdings.ts'

/** Reads, under the user's lock, which files the prefixes of one batch match. */
export class MatchingFiles {
  readonly #tx: LedgerTx
  readonly #held: Holdings
  readonly #userId: UserId
  /** The prefixes whose files are all in the holdings. */
  readonly #read: FileNamePrefix[] = []
  /** How many files may still be matched. */
  #left: number
  #rowsLeft = MAX_MATCHED

  constructor(tx: LedgerTx, { userId, held, others }: MatchingOptions) {
    this.#tx = tx
    this.#held = held
    this.#userId = userId
    this.#left = MAX_OPERATIONS - others
  }

  /** The files with the prefix after the operations so far, by name. Throws `invalid_parameter` if they are too many. */
  async match(prefix: FileNamePrefix): Promise<readonly File[]> {
    const isComplete =
      this.#read.some((read) => prefix.startsWith(read)) || (await this.#loadAll(prefix))
    const files = this.#held.filesWith(prefix)
    const matched = isComplete
      ? files.length
      : this.#held.matchedOf(prefix, await this.#count(prefix))
    if (matched > this.#left) throw tooMany(matched)
    if (!isComplete) throw tooManyRows(matched)
    this.#left -= matched
    return files
  }

  /** Adds the files with these names to the holdings. */
  async load(names: readonly FileName[]): Promise<void> {
    this.#held.add(await readFiles(this.#tx, { userId: this.#userId, names }))
  }

  /** Adds the files with the prefix to the holdings, and returns whether these are all of them. */
  async #loadAll(prefix: FileNamePrefix): Promise<boolean> {
    // A plan that sorts would read all files with the prefix.
    if (this.#read.length === 0) await this.#tx.keepIndexOrder?.execute(this.#tx.db)
    for (let after = '', current = 0; current <= MAX_OPERATIONS;) {
      const limit = Math.min(MAX_OPERATIONS + 1, this.#rowsLeft)
      const rows = await this.#readRows(prefix, { after, limit })
      this.#held.add(rows)
      this.#rowsLeft -= rows.length
      if (rows.length < limit) {
        this.#read.push(prefix)
        return true
      }
      current += rows.filter(({ expiresAt, now }) => expiresAt > now).length
      const last = rows.at(-1)
      if (last === undefined) return false
      after = last.name
    }
    return false
  }

  async #readRows(
    prefix: FileNamePrefix,
    { after, limit }: { readonly after: string; readonly limit: number },
  ): Promise<readonly TimedFile[]> {
    const { db, now } = this.#tx
    const { rows } = await sql<TimedFile>`
      SELECT ${FILE_COLUMNS}, ${now} AS now FROM files
      WHERE user_id = ${this.#userId} AND ${isInRange(sql`name`, { prefix, after })}
      ORDER BY name LIMIT ${limit}
    `.execute(db)
    return rows
  }

  /** Of the rows in the database, at most `MAX_MATCHED`. */
  async #count(prefix: FileNamePrefix): Promise<number> {
    const { rows } = await sql<{ readonly count: number }>`
      SELECT COUNT(*) AS count FROM (
        SELECT expires_at FROM files
        WHERE user_id = ${this.#userId} AND ${isInRange(sql`name`, { prefix, after: '' })}
        ORDER BY name LIMIT ${MAX_MATCHED}
      ) AS files
      WHERE ${isCurrent(this.#tx)}
    `.execute(this.#tx.db)
    return rows[0]?.count ?? 0
  }
}

interface MatchingOptions {
  readonly userId: UserId
  /** Receives what is read. */
  readonly held: Holdings
  /** The operations of the batch that are not by prefix. */
  readonly others: number
}

function tooMany(matched: number): AppError {
  return refusal(
    `A batch changes at most ${MAX_OPERATIONS} files. The prefix of this operation matches ${matched}.`,
    matched,
  )
}

/** Expired files that are not yet removed count here, and so does each prefix that contains another. */
function tooManyRows(matched: number): AppError {
  return refusal(
    `The prefixes of a batch match at most ${MAX_MATCHED} names, those of expired files included.`,
    matched,
  )
}

function refusal(detail: string, matched: number): AppError {
  return new AppError('invalid_parameter', detail, { facts: { parameter: 'operations', matched } })
}
