import type { LedgerOptions } from '../../ledger/session.ts'
import type { WrittenPort } from '../../write-kinds.ts'

export interface WriterSettings extends LedgerOptions {
  readonly file: string
  /** That of the database which the calling thread reads: the writer opens no other one. */
  readonly fileId?: string | undefined
  /** Milliseconds since 1970 in shared memory, for tests; the system clock by default. */
  readonly clock?: BigInt64Array | undefined
}

/** A call of a port's method that is no mere read (`write-kinds.ts`). */
export interface WriterCall {
  readonly port: WrittenPort
  readonly method: string
  readonly args: readonly unknown[]
}
