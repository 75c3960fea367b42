import { Worker } from 'node:worker_threads'
import { steadyTime } from '../clock/steady-time.ts'
import { Deadline } from './deadline.ts'
import { MessageBuffer } from './message-buffer.ts'
import { deserializeError, type SerializedError } from './serialized-error.ts'

export type ThreadMessage<C> = readonly ThreadCall<C>[] | 'close'

export interface ThreadCall<C> {
  readonly id: number
  readonly call: C
  /** When the caller gives up, by `steadyTime`. */
  readonly until: number
}

export type ThreadAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: SerializedError }

export interface ThreadOptions {
  /** What the thread runs; it calls `answerCalls`. */
  readonly module: URL
  /** Plain data. */
  readonly workerData: unknown
  /** Called once if the thread cannot start, or ends without `close`. */
  readonly onDeath: (cause: unknown) => void
  /** The error of a call that the thread did not answer; the outcome of the call is unknown. */
  readonly toError: (cause: unknown) => Error
}

/**
 * A thread that answers calls of plain data. All calls of one event-loop iteration are one message, and so are all
 * answers. It never restarts: once it has ended, every call rejects.
 */
export class Thread<C> {
  readonly #options: ThreadOptions
  readonly #waiting = new Map<number, Waiting>()
  readonly #outgoing = new MessageBuffer<ThreadCall<C>>((calls) => this.#sendCalls(calls))
  #worker: Worker | undefined
  #lastId = 0
  #isClosed = false
  #death: { readonly cause: unknown } | undefined

  constructor(options: ThreadOptions) {
    this.#options = options
  }

  /** Whether `start` was called, though the thread may have ended since. */
  get hasStarted(): boolean {
    return this.#worker !== undefined || this.#death !== undefined
  }

  /** No-op if started or closed. Calls wait until the module is ready. */
  start(): void {
    if (this.hasStarted || this.#isClosed) return
    const { module, workerData } = this.#options
    try {
      this.#worker = new Worker(module, { workerData, resourceLimits: LIMITS })
    } catch (error) {
      this.#die(error)
      return
    }
    let cause: unknown
    this.#worker
      .on('message', (answers: readonly ThreadAnswer[]) => {
        for (const answer of answers) this.#settle(answer)
      })
      .on('error', (error: unknown) => {
        cause = error
      })
      .on('exit', () => this.#die(cause ?? new Error('The thread has ended.')))
  }

  /** Rejects as the module does, and with `toError` if the thread has ended, ends, or is late. */
  async call(call: C): Promise<unknown> {
    if (this.#death !== undefined) throw this.#options.toError(this.#death.cause)
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const id = ++this.#lastId
    const giveUp = (): void => this.#take(id)?.reject(this.#options.toError(tooLate()))
    this.#waiting.set(id, { deadline: new Deadline(CALL_TIMEOUT_MS, giveUp), resolve, reject })
    this.#outgoing.add({ call, id, until: steadyTime() + CALL_TIMEOUT_MS })
    return await promise
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

  /** A call that cannot be cloned must not fail the other calls of its message. */
  #sendCalls(calls: readonly ThreadCall<C>[]): void {
    try {
      this.#send(calls)
    } catch (error) {
      const [call] = calls
      if (call !== undefined && calls.length === 1) this.#take(call.id)?.reject(error)
      else for (const each of calls) this.#sendCalls([each])
    }
  }

  #send(message: ThreadMessage<C>): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker?.postMessage(message)
  }

  #settle(answer: ThreadAnswer): void {
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
    for (const id of this.#waiting.keys()) this.#take(id)?.reject(this.#options.toError(cause))
    if (!this.#isClosed) this.#options.onDeath(cause)
  }
}

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

/** Enough for the garbage of a group of calls. V8 flags take precedence. */
const LIMITS = { maxYoungGenerationSizeMb: 8 }
