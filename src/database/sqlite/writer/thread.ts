import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Deadline } from '../../../core/async/deadline.ts'
import { databaseUnavailable } from '../../database.ts'
import { MessageBuffer } from './message-buffer.ts'
import { deserializeError } from './serialized-error.ts'
import type {
  WriterAnswer,
  WriterCall,
  WriterMessage,
  WriterReply,
  WriterSettings,
} from './protocol.ts'

interface Waiting {
  readonly deadline: Deadline
  resolve(value: unknown): void
  reject(error: unknown): void
}

export interface WriterThreadEnds {
  /** Called when the thread is gone, before those who wait for it hear of it. */
  readonly onExit: () => void
  /** Told why it has ended that was not closed. */
  readonly onDeath: (cause: unknown) => void
}

/** A thread with a connection to the database, and who waits for it. */
export class WriterThread {
  /** Resolves when it is ready, or has ended. */
  readonly started: Promise<void>
  isReady = false
  readonly #worker: Worker
  readonly #outgoing: MessageBuffer<WriterCall>
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0
  #isClosing = false

  /** Throws where no thread can be made. */
  constructor(settings: WriterSettings, { onExit, onDeath }: WriterThreadEnds) {
    this.#worker = new Worker(PROGRAM, { workerData: settings, resourceLimits: LIMITS })
    this.#outgoing = new MessageBuffer({
      send: (calls) => this.#send(calls),
      refuse: ({ id }, error) => this.#take(id)?.reject(error),
      // All calls of one turn of the event loop are one message.
      schedule: setImmediate,
    })
    const { promise, resolve } = Promise.withResolvers<void>()
    this.started = promise
    this.#worker.on('message', (reply: WriterReply) => {
      if (reply !== 'ready') {
        for (const answer of reply) this.#settle(answer)
        return
      }
      this.isReady = true
      resolve()
    })
    let cause: unknown
    this.#worker.on('error', (error: unknown) => {
      cause = error
    })
    this.#worker.on('exit', () => {
      cause ??= new Error('The thread has ended.')
      onExit()
      for (const id of this.#waiting.keys()) this.#take(id)?.reject(databaseUnavailable(cause))
      resolve()
      if (!this.#isClosing) onDeath(cause)
    })
  }

  /** Rejects as the method does, and with `unavailable` when the thread dies or does not answer in time. */
  call(call: Omit<WriterCall, 'id' | 'until'>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      const refuse = (): void => this.#take(id)?.reject(databaseUnavailable(tooLate()))
      this.#waiting.set(id, { deadline: new Deadline(PATIENCE_MS, refuse), resolve, reject })
      this.#outgoing.add({ ...call, id, until: Date.now() + PATIENCE_MS })
    })
  }

  async close(): Promise<void> {
    const { promise: exited, resolve } = Promise.withResolvers<void>()
    this.#worker.once('exit', () => resolve())
    // One that hangs in a call of the system cannot be ended either.
    const deadline = new Deadline(PATIENCE_MS, resolve)
    this.#isClosing = true
    this.#outgoing.flush()
    this.#send('close')
    await exited
    deadline.clear()
  }

  #send(message: WriterMessage): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker.postMessage(message)
  }

  #settle(answer: WriterAnswer): void {
    const waiting = this.#take(answer.id)
    if ('error' in answer) waiting?.reject(deserializeError(answer.error))
    else waiting?.resolve(answer.value)
  }

  /** Who waits for the call; each is settled once. */
  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    waiting?.deadline.clear()
    this.#waiting.delete(id)
    return waiting
  }
}

/** Longer than a change waits for its turn and for the lock. */
const PATIENCE_MS = 30_000

function tooLate(): Error {
  return new Error(`waited ${PATIENCE_MS} ms for the thread`)
}

/** With the extension of this file: the source, or what was emitted. */
const PROGRAM = new URL(`worker${extname(import.meta.filename)}`, import.meta.url)

/** Enough for what a group of transactions leaves behind, where no flag of V8 says otherwise. */
const LIMITS = { maxYoungGenerationSizeMb: 8 }
