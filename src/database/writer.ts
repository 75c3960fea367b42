import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { AppError } from '../core/errors.ts'
import type { Ledger } from '../core/ledger.ts'
import type { UserStore } from '../core/user-store.ts'
import {
  Outbox,
  received,
  type WriterAnswer,
  type WriterCall,
  type WriterPorts,
  type WriterSettings,
} from './writer-messages.ts'

/** All that changes rows. Any connection reads them as soon as the change has resolved. */
const CHANGES = {
  ledger: [
    'begin',
    'extend',
    'renew',
    'commit',
    'abort',
    'removeFile',
    'changeFile',
    'noteAbortedRemovals',
    'forgetUploads',
    'noteGarbageRemovals',
    'purgeDeletedUsers',
    'holdChore',
    'leaveChore',
  ],
  users: [
    'createUser',
    'setUserStatus',
    'deleteUser',
    'addAccessToken',
    'recordAccessTokenUses',
    'revokeAccessToken',
    'putGrant',
    'revokeGrant',
  ],
} as const satisfies { readonly [P in keyof WriterPorts]: readonly (keyof WriterPorts[P])[] }

/**
 * Has the changes of an embedded database made in a thread of their own, with a connection of its own: what they compute and
 * above all their writes to the disk keep no request waiting. The thread starts with the first upload; until then changes
 * are made where they are asked for. When it dies, calls that wait for it reject with `unavailable`, as they do when a
 * connection to a server breaks, and the next upload starts another.
 */
export class Writer {
  readonly #settings: WriterSettings
  #thread: WriterThread | undefined

  constructor(settings: WriterSettings) {
    this.#settings = settings
  }

  /** The same port, whose changes are made in the thread. */
  ledger(ledger: Ledger): Ledger {
    const begin: Ledger['begin'] = (upload) => {
      this.#thread ??= new WriterThread(this.#settings, () => (this.#thread = undefined))
      return handOver.begin(upload)
    }
    const handOver = this.#handOver('ledger', ledger)
    return { ...handOver, begin }
  }

  /** As `ledger`. */
  users(users: UserStore): UserStore {
    return this.#handOver('users', users)
  }

  /** Resolves when all changes that were asked for have ended, and the thread has. */
  async close(): Promise<void> {
    await this.#thread?.close()
  }

  /** The port, whose changes go to the thread while there is one. */
  #handOver<P extends keyof WriterPorts>(name: P, port: WriterPorts[P]): WriterPorts[P] {
    const methods = port as unknown as Readonly<Record<string, Method>>
    const changes = CHANGES[name].map((method) => [
      method,
      (...words: readonly unknown[]) =>
        this.#thread?.call({ port: name, method, words }) ?? methods[method]?.(...words),
    ])
    return { ...port, ...(Object.fromEntries(changes) as Partial<WriterPorts[P]>) }
  }
}

type Method = (...words: readonly unknown[]) => Promise<unknown>

interface Waiting {
  resolve(value: unknown): void
  reject(error: unknown): void
}

class WriterThread {
  readonly #worker: Worker
  readonly #outbox: Outbox<WriterCall>
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0

  constructor(settings: WriterSettings, onExit: () => void) {
    this.#worker = new Worker(THREAD, { workerData: settings, resourceLimits: LIMITS })
    this.#outbox = new Outbox({
      send: (calls) => this.#send(calls),
      refuse: ({ id }, error) => this.#take(id)?.reject(error),
      // All calls of one turn of the event loop are one message.
      schedule: setImmediate,
    })
    let cause: unknown
    this.#worker.on('message', (answers: readonly WriterAnswer[]) => {
      for (const answer of answers) this.#settle(answer)
    })
    this.#worker.on('error', (error: unknown) => {
      cause = error
    })
    this.#worker.on('exit', () => {
      onExit()
      for (const waiting of this.#waiting.values()) waiting.reject(dead(cause))
    })
  }

  call(call: Omit<WriterCall, 'id'>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      this.#waiting.set(id, { resolve, reject })
      this.#outbox.add({ ...call, id })
    })
  }

  async close(): Promise<void> {
    const { promise: exited, resolve } = Promise.withResolvers<void>()
    this.#worker.once('exit', () => resolve())
    this.#outbox.flush()
    this.#send([])
    await exited
  }

  /** No calls at all are the end. */
  #send(calls: readonly WriterCall[]): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker.postMessage(calls)
  }

  #settle(answer: WriterAnswer): void {
    const waiting = this.#take(answer.id)
    if ('error' in answer) waiting?.reject(received(answer.error))
    else waiting?.resolve(answer.value)
  }

  /** Who waits for the call; each is settled once. */
  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    return waiting
  }
}

/** As this file is, the source or what was emitted. */
const THREAD = new URL(`writer-thread${extname(import.meta.filename)}`, import.meta.url)

/** Enough for what a group of transactions leaves behind; V8 takes several times as much where it may. */
const LIMITS = { maxYoungGenerationSizeMb: 8 }

function dead(cause: unknown = new Error('The thread has ended.')): AppError {
  return new AppError('unavailable', 'The database does not answer.', { cause, part: 'database' })
}
