import { extname } from 'node:path'
import { Thread } from '../../../core/async/thread.ts'
import type { Ledger } from '../../ledger.ts'
import type { UserStores } from '../../users/user-store.ts'
import { databaseUnavailable } from '../../repeats.ts'
import { mapWrites, type OperationCall, type PortName } from '../../operations.ts'
import type { LedgerOptions } from '../../operations/session.ts'

/**
 * A thread for writes, so that disk writes delay no request. The first operation with `startsWriter` starts it. Until
 * then, the calling thread writes. It never restarts: if it ends unexpectedly, every write rejects with `unavailable`,
 * and the process must end.
 */
export class Writer {
  readonly #thread: Thread<OperationCall>

  /** `onDeath` is called once if the thread cannot start or ends without `close`; it must end the process. */
  constructor(settings: WriterSettings, onDeath: (cause: unknown) => void) {
    this.#thread = new Thread({
      module: WORKER,
      workerData: settings,
      onDeath,
      toError: databaseUnavailable,
    })
  }

  /** Runs the port's writes on the thread once it has started. A call with arguments other than plain data rejects. */
  ledger(ledger: Ledger): Ledger {
    return this.#moveWrites('ledger', ledger)
  }

  /** Like `ledger`. */
  users(users: UserStores): UserStores {
    return this.#moveWrites('users', users)
  }

  /** No-op if started or closed. Calls wait until the thread has opened its database. */
  start(): void {
    this.#thread.start()
  }

  /** Resolves when the thread has answered all calls and ended, or after 30 s. */
  close(): Promise<void> {
    return this.#thread.close()
  }

  /** Writes reject as the method does, and with `unavailable`, outcome unknown, if the thread ends or is late. */
  #moveWrites<P extends object>(port: PortName, methods: P): P {
    return mapWrites(port, methods, (call, { method, operation: { startsWriter } }) => {
      return (...args) => {
        if (startsWriter === true) this.start()
        return this.#thread.hasStarted ? this.#thread.call({ port, method, args }) : call(...args)
      }
    })
  }
}

/** With the extension of this file: source or build output. */
const WORKER = new URL(`worker${extname(import.meta.filename)}`, import.meta.url)

export interface WriterSettings extends LedgerOptions {
  readonly file: string
  /** That of the database which the calling thread reads: the writer opens no other one. */
  readonly fileId?: string | undefined
  /** Milliseconds since 1970 in shared memory, for tests; the system clock by default. */
  readonly clock?: BigInt64Array | undefined
}
