import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Deadline } from '../../../core/async/deadline.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { UserStore } from '../../../core/users/user-store.ts'
import { databaseUnavailable } from '../../repeats.ts'
import { MessageBuffer } from './message-buffer.ts'
import {
  READS,
  type WriterAnswer,
  type WriterCall,
  type WriterMessage,
  type WriterSettings,
} from './protocol.ts'
import { deserializeError } from './serialized-error.ts'

/**
 * A thread for writes, so that disk writes delay no request. The first upload starts it. Until then, the calling thread
 * writes. It never restarts: if it ends unexpectedly, every write rejects with `unavailable`, and the process must end.
 */
export class Writer {
  readonly #settings: WriterSettings
  readonly #onDeath: (cause: unknown) => void
  readonly #waiting = new Map<number, Waiting>()
  readonly #outgoing = new MessageBuffer<WriterCall>((calls) => this.#sendCalls(calls))
  #worker: Worker | undefined
  #lastId = 0
  #isClosed = false
  #death: { readonly cause: unknown } | undefined

  /** `onDeath` is called once if the thread cannot start or ends without `close`; it must end the process. */
  constructor(settings: WriterSettings, onDeath: (cause: unknown) => void) {
    this.#settings = settings
    this.#onDeath = onDeath
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
    if (this.#worker !== undefined || this.#death !== undefined || this.#isClosed) return
    try {
      this.#worker = new Worker(PROGRAM, { workerData: this.#settings, resourceLimits: LIMITS })
    } catch (error) {
      this.#die(error)
      return
    }
    let cause: unknown
    this.#worker
      .on('message', (answers: readonly WriterAnswer[]) => {
        for (const answer of answers) this.#settle(answer)
      })
      .on('error', (error: unknown) => {
        cause = error
      })
      .on('exit', () => this.#die(cause ?? new Error('The thread has ended.')))
  }

  /** Resolves when the thread has answered all calls and ended, or after `CALL_TIMEOUT_MS`. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#worker === undefined || this.#death !== undefined) return
    const { promise: exited, resolve } = Promise.withResolvers<void>()
    this.#worker.once('exit', () => resolve())
    // A thread that hangs in a system call cannot be terminated either.
    const deadline = new Deadline(CALL_TIMEOUT_MS, resolve)
    this.#outgoing.flush()
    this.#send('close')
    await exited
    deadline.clear()
  }

  #moveWrites<P extends object>(port: keyof typeof READS, direct: P): P {
    const reads: readonly string[] = READS[port]
    const methods = Object.entries<Method>({ ...direct } as Record<string, Method>)
    const moved = methods.map(([method, run]) => {
      if (reads.includes(method)) return [method, run]
      const write: Method = (...args) =>
        this.#worker === undefined && this.#death === undefined
          ? run(...args)
          : this.#call({ port, method, args })
      return [method, write]
    })
    return Object.fromEntries(moved) as P
  }

  /** Rejects as the method does, and with `unavailable`, outcome unknown, if the thread ends or is late. */
  async #call(call: Omit<WriterCall, 'id' | 'until'>): Promise<unknown> {
    if (this.#death !== undefined) throw databaseUnavailable(this.#death.cause)
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const id = ++this.#lastId
    const giveUp = (): void => this.#take(id)?.reject(databaseUnavailable(tooLate()))
    this.#waiting.set(id, { deadline: new Deadline(CALL_TIMEOUT_MS, giveUp), resolve, reject })
    this.#outgoing.add({ ...call, id, until: Date.now() + CALL_TIMEOUT_MS })
    return await promise
  }

  /** A call that cannot be cloned must not fail the other calls of its turn. */
  #sendCalls(calls: readonly WriterCall[]): void {
    try {
      this.#send(calls)
    } catch (error) {
      const [call, ...others] = calls
      if (call !== undefined && others.length === 0) this.#take(call.id)?.reject(error)
      else for (const each of calls) this.#sendCalls([each])
    }
  }

  #send(message: WriterMessage): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker?.postMessage(message)
  }

  #settle(answer: WriterAnswer): void {
    const waiting = this.#take(answer.id)
    if ('error' in answer) waiting?.reject(deserializeError(answer.error))
    else waiting?.resolve(answer.value)
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    waiting?.deadline.clear()
    this.#waiting.delete(id)
    return waiting
  }

  #die(cause: unknown): void {
    this.#death = { cause }
    for (const id of this.#waiting.keys()) this.#take(id)?.reject(databaseUnavailable(cause))
    if (!this.#isClosed) this.#onDeath(cause)
  }
}

type Method = (...args: readonly unknown[]) => Promise<unknown>

interface Waiting {
  readonly deadline: Deadline
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** Longer than the time that a change waits for its turn and for the lock. */
const CALL_TIMEOUT_MS = 30_000

function tooLate(): Error {
  return new Error(`waited ${CALL_TIMEOUT_MS} ms for the thread`)
}

/** With the extension of this file: source or build output. */
const PROGRAM = new URL(`worker${extname(import.meta.filename)}`, import.meta.url)

/** Enough for the garbage of a group of transactions. V8 flags take precedence. */
const LIMITS = { maxYoungGenerationSizeMb: 8 }
