import { type RawBuilder, sql } from 'kysely'
import type { Held } from '../../core/quota/shares.ts'

/** Rows of one user that count towards a limit, and those of them that one narrow credential has made. */
export interface HeldRow {
  readonly held: number
  readonly own: number
}

/** SQL for how many of the counted rows the narrow credential has made. */
export function heldBy(credential: string | undefined): RawBuilder<number> {
  return sql<number>`COUNT(CASE WHEN credential = ${credential ?? ''} THEN 1 END)`
}

/** What `reachedBound` compares with the limit. */
export function heldIn(row: HeldRow | undefined, credential: string | undefined): Held {
  return {
    all: Number(row?.held),
    own: credential === undefined ? undefined : Number(row?.own),
  }
}
