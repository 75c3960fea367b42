import { AppError, type AppErrorOptions, type ErrorCode } from '../core/errors.ts'
import type { Ledger } from '../core/ledger.ts'
import type { UserStore } from '../core/user-store.ts'

/** With what the writer's thread opens its database. */
export interface WriterSettings {
  /** Path of the database file, which is migrated. */
  readonly file: string
  /** What every user has without any grant, in bytes. */
  readonly baseCapacity: number
  /** Milliseconds since 1970 in shared memory, for tests; the machine's clock when left out. */
  readonly clock?: BigInt64Array | undefined
}

/** The ports of which the writer does the changes. */
export interface WriterPorts {
  readonly ledger: Ledger
  readonly users: UserStore
}

/** The call of a method, as it goes to the thread. */
export interface WriterCall {
  readonly id: number
  readonly port: keyof WriterPorts
  readonly method: string
  readonly words: readonly unknown[]
}

/** How a call ended. */
export type WriterAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: SentError }

/** What was thrown, as it goes between threads: the copy of an `AppError` would be none any more. */
type SentError =
  | { readonly other: unknown }
  | { readonly code: ErrorCode; readonly detail: string; readonly options: AppErrorOptions }

/** The error as a message has it; `received` makes it again. */
export function sent(error: unknown): SentError {
  if (!(error instanceof AppError)) return { other: error }
  const { code, message: detail, facts, part, cause } = error
  return { code, detail, options: { facts, cause, ...(part && { part }) } }
}

export function received(error: SentError): unknown {
  return 'other' in error ? error.other : new AppError(error.code, error.detail, error.options)
}

/** Gathers what is to be sent, since most of what a message costs is to wake up who gets it. */
export class Outbox<T> {
  #waiting: T[] = []
  readonly #options: OutboxOptions<T>

  constructor(options: OutboxOptions<T>) {
    this.#options = options
  }

  add(message: T): void {
    this.#waiting.push(message)
    if (this.#waiting.length === 1) this.#options.schedule(this.flush)
  }

  /** Sends what waits. */
  readonly flush = (): void => {
    const { send, refuse } = this.#options
    const messages = this.#waiting.splice(0)
    if (messages.length === 0) return
    try {
      send(messages)
    } catch {
      // One of them is no plain data. The others go alone.
      for (const message of messages) {
        try {
          send([message])
        } catch (error) {
          refuse(message, error)
        }
      }
    }
  }
}

interface OutboxOptions<T> {
  /** Throws, and sends nothing, when one of them cannot be sent. */
  readonly send: (messages: readonly T[]) => void
  readonly refuse: (message: T, error: unknown) => void
  /** Says when all is sent that has been added by then. */
  readonly schedule: (flush: () => void) => void
}
