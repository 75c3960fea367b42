import { sql } from 'kysely'
import type { Database } from '../../../../src/database/database.ts'

export const MINUTE_MS = 60_000

/** Other garbage is due within seconds. */
const TAIL_MS = MINUTE_MS

/**
 * Moves the deadlines of unfinished resumable uploads and of their tail objects, as if that much time had passed for
 * them: these delays are minutes and hours, which no run can wait for. Leases of running requests stay.
 */
export async function passTime(database: Database, ms: number): Promise<void> {
  await database.transaction(async (tx) => {
    await sql`
      UPDATE uploads SET lease_until = lease_until - ${sql.lit(ms)}
      WHERE state = 'pending' AND version IN (SELECT version FROM resumable_uploads)
    `.execute(tx)
    await sql`
      UPDATE garbage SET not_before = not_before - ${sql.lit(ms)}
      WHERE not_before > ${database.now} + ${sql.lit(TAIL_MS)}
    `.execute(tx)
  })
}

/** Lets time pass for resumable uploads in leaps, during a load. */
export class PassingTime {
  readonly #database: Database
  /** All leaps that are over, in milliseconds. */
  passedMs = 0
  /** These, and one that has begun: what a client has seen before may have ended by it. */
  begunMs = 0

  constructor(database: Database) {
    this.#database = database
  }

  async leap(): Promise<void> {
    this.begunMs += LEAP_MS
    await passTime(this.#database, LEAP_MS)
    this.passedMs = this.begunMs
  }
}

/** Longer than an empty upload lives and than an unused tail is kept, and shorter than the life of any other. */
const LEAP_MS = 16 * MINUTE_MS
