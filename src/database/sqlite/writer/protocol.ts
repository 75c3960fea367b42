import type { Ledger } from '../../../core/ledger/ledger.ts'
import type { UserStore } from '../../../core/users/user-store.ts'
import type { SerializedError } from './serialized-error.ts'

/** With what the writer's thread opens its database. */
export interface WriterSettings {
  /** Path of the database file, which is migrated. */
  readonly file: string
  /** What every user has without any grant, in bytes. */
  readonly baseCapacity: number
  /** Milliseconds since 1970 in shared memory, for tests; the machine's clock when left out. */
  readonly clock?: BigInt64Array | undefined
}

/** The ports of which the writer makes the changes. */
export interface WriterPorts {
  readonly ledger: Ledger
  readonly users: UserStore
}

/** The methods of one of them, whichever. */
export type Methods = Readonly<Record<string, (...args: never[]) => Promise<unknown>>>

/** What goes to the thread. */
export type WriterMessage = readonly WriterCall[] | 'close'

export interface WriterCall {
  readonly id: number
  readonly port: keyof WriterPorts
  readonly method: string
  readonly args: never[]
  /** Milliseconds since 1970; then nobody waits for it any more. */
  readonly until: number
}

/** What comes from the thread: that it has opened its database, once, and then answers. */
export type WriterReply = 'ready' | readonly WriterAnswer[]

/** How a call ended. */
export type WriterAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: SerializedError }
