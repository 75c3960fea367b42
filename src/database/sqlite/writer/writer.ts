import { extname } from 'node:path'
import { Thread } from '../../../core/async/thread.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { UserStore } from '../../../core/users/user-store.ts'
import { databaseUnavailable } from '../../repeats.ts'
import { mapWrites, type WrittenPort } from '../../write-kinds.ts'
import type { LedgerOptions } from '../../ledger/session.ts'

/**
 * A thread for writes, so that disk writes delay no request. The first upload starts it. Until then, the calling thread
 * writes. It never restarts: if it ends unexpectedly, every write rejects with `unavailable`, and the process must end.
 */
export class Writer {
  readonly #thread: Thread<WriterCall>

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
    const moved = this.#moveWrites('ledger', ledger)
    return {
      ...moved,
      begin: (upload) => {
        this.start()
        return moved.begin(upload)
      },
      createResumable: (upload) => {
        this.start()
        return moved.createResumable(upload)
      },
      claimAppend: (claim) => {
        this.start()
        return moved.claimAppend(claim)
      },
    }
  }

  /** Like `ledger`, but no call starts the thread. */
  users(users: UserStore): UserStore {
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
  #moveWrites<P extends object>(name: WrittenPort, port: P): P {
    return mapWrites({ name, port }, ({ method, call }) => {
      return (...args) =>
        this.#thread.hasStarted ? this.#thread.call({ port: name, method, args }) : call(...args)
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

/** A call of a port's method that is no mere read (`write-kinds.ts`). */
export interface WriterCall {
  readonly port: WrittenPort
  readonly method: string
  readonly args: readonly unknown[]
}
