import type { FakeS3 } from '../../../support/faults/fake-s3.ts'
import type { Operation } from '../plan/operation.ts'
import type { DatabaseClock } from '../world/database-clock.ts'
import type { Actor, Timeline } from '../world/timeline.ts'
import type { LedgerReader, LedgerState } from './ledger-state.ts'
import type { Model } from './model.ts'

export interface CheckerOptions {
  readonly model: Model
  readonly ledgerReader: LedgerReader
  readonly bucket: FakeS3
  readonly operations: readonly Operation[]
  /** The database's. */
  readonly clock: () => number
  readonly databaseClock: DatabaseClock
  /** Has the time that really passes. */
  readonly timeline: Timeline
  readonly historyLifetimeMs: number
  readonly uploadLifetimeMs: number
  /** Given what breaks an invariant; the first one counts. */
  readonly report: (violation: unknown) => void
}

/** What a call found and what it left. */
export interface Applied extends CheckerOptions {
  readonly before: LedgerState
  readonly after: LedgerState
}

export function operationOf(
  { operations }: Pick<CheckerOptions, 'operations'>,
  actor: Actor | undefined,
): Operation | undefined {
  return actor?.operation === undefined ? undefined : operations[actor.operation]
}
