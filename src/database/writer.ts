import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { AppError } from '../core/errors.ts'
import type { Ledger } from '../core/ledger.ts'
import type { UserStore } from '../core/user-store.ts'
import { databaseUnavailable } from './database.ts'
import { Outbox } from './outbox.ts'
import { unpackError } from './packed-error.ts'
import type {
  Methods,
  WriterAnswer,
  WriterCall,
  WriterMessage,
  WriterPorts,
  WriterReply,
  WriterSettings,
} from './writer-messages.ts'

/**
 * Has the changes of an embedded database made in a thread of their own, with a connection of its own: what they compute and
 * above all their writes to the disk keep no request waiting. The thread starts with the first upload. While there is none,
 * changes are made where they are asked for. Those that wait for it when it dies, or for longer than any change takes,
 * reject with `unavailable`, which says nothing about whether they have happened.
 */
export class Writer {
  readonly #settings: WriterSettings
  readonly #onDeath: (cause: unknown) => void
  #thread: WriterThread | undefined
  #nextStartAt = 0

  /** `onDeath` is told why the thread has ended that was not closed, or cannot be started. It is tried again after a while. */
  constructor(settings: WriterSettings, onDeath: (cause: unknown) => void) {
    this.#settings = settings
    this.#onDeath = onDeath
  }

  /** The same port, whose changes are made in the thread. It takes plain data; a call with anything else rejects. */
  ledger(ledger: Ledger): Ledger {
    const handedOver = this.#handOver('ledger', ledger)
    const begin: Ledger['begin'] = (upload) => {
      if (this.#thread === undefined) void this.start()
      return handedOver.begin(upload)
    }
    return { ...handedOver, begin }
  }

  /** As `ledger`. */
  users(users: UserStore): UserStore {
    return this.#handOver('users', users)
  }

  /** Starts the thread if there is none. Resolves when changes are made there, or it is clear that they are not. */
  async start(): Promise<void> {
    if (this.#thread === undefined && performance.now() >= this.#nextStartAt) this.#startThread()
    await this.#thread?.started
  }

  /** Resolves when all changes that were asked for have ended, and the thread has. None may be asked for afterwards. */
  async close(): Promise<void> {
    await this.#thread?.close()
  }

  #startThread(): void {
    const onExit = (cause: unknown): void => {
      this.#thread = undefined
      this.#nextStartAt = performance.now() + RESTART_MS
      if (cause !== undefined) this.#onDeath(cause)
    }
    try {
      this.#thread = new WriterThread(this.#settings, onExit)
    } catch (error) {
      onExit(error)
    }
  }

  /** The port, those of whose methods that are the thread's go there while it runs. */
  #handOver<P extends Ledger | UserStore>(name: keyof WriterPorts, port: P): P {
    const methods: Methods = { ...port }
    const areThreads: Readonly<Record<string, boolean>> = IS_THREADS[name]
    const handedOver = Object.entries(methods).map(([method, call]) => {
      if (areThreads[method] !== true) return [method, call]
      return [
        method,
        (...args: never[]) => this.#call({ port: name, method, args }) ?? call(...args),
      ]
    })
    return Object.fromEntries(handedOver) as P
  }

  #call(call: Omit<WriterCall, 'id'>): Promise<unknown> | undefined {
    return this.#thread?.isReady === true ? this.#thread.call(call) : undefined
  }
}

/** Why a thread could not be started does not pass in a moment, and to try takes time from requests. */
const RESTART_MS = 10_000

/** Of each method whether it is the thread's: it changes rows, or asks whether that is possible. */
const IS_THREADS = {
  ledger: {
    begin: true,
    extend: true,
    renew: true,
    commit: true,
    abort: true,
    removeFile: true,
    changeFile: true,
    check: true,
    noteAbortedRemovals: true,
    forgetUploads: true,
    noteGarbageRemovals: true,
    purgeDeletedUsers: true,
    holdChore: true,
    leaveChore: true,
    listFiles: false,
    findFile: false,
    countUploads: false,
    usage: false,
    findAccount: false,
    listAccounts: false,
    reportCapacity: false,
    listExpiredUploads: false,
    listAbortedUploads: false,
    listGarbage: false,
    measureBacklog: false,
    measureJournal: false,
  },
  users: {
    createUser: true,
    setUserStatus: true,
    deleteUser: true,
    addAccessToken: true,
    recordAccessTokenUses: true,
    revokeAccessToken: true,
    putGrant: true,
    revokeGrant: true,
    findUser: false,
    findAccessTokenUser: false,
    findAccessTokenUsers: false,
    listAccessTokens: false,
    listGrants: false,
  },
} as const satisfies {
  readonly [P in keyof WriterPorts]: Readonly<Record<keyof WriterPorts[P], boolean>>
}

interface Waiting {
  readonly deadline: NodeJS.Timeout
  resolve(value: unknown): void
  reject(error: unknown): void
}

class WriterThread {
  /** Resolves when it is ready, or has ended. */
  readonly started: Promise<void>
  isReady = false
  readonly #worker: Worker
  readonly #outbox: Outbox<WriterCall>
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0
  #isClosing = false

  /** Throws where no thread can be made. `onExit` is told why it ended, if it was not closed. */
  constructor(settings: WriterSettings, onExit: (cause: unknown) => void) {
    this.#worker = new Worker(THREAD, { workerData: settings, resourceLimits: LIMITS })
    this.#outbox = new Outbox({
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
      onExit(this.#isClosing ? undefined : cause)
      for (const id of this.#waiting.keys()) this.#take(id)?.reject(databaseUnavailable(cause))
      resolve()
    })
  }

  call(call: Omit<WriterCall, 'id'>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      const refuse = (): void => this.#take(id)?.reject(tooLate())
      this.#waiting.set(id, { deadline: setTimeout(refuse, PATIENCE_MS), resolve, reject })
      this.#outbox.add({ ...call, id })
    })
  }

  async close(): Promise<void> {
    const { promise: exited, resolve } = Promise.withResolvers<void>()
    this.#worker.once('exit', () => resolve())
    this.#isClosing = true
    this.#outbox.flush()
    this.#send('close')
    await exited
  }

  #send(message: WriterMessage): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker.postMessage(message)
  }

  #settle(answer: WriterAnswer): void {
    const waiting = this.#take(answer.id)
    if ('error' in answer) waiting?.reject(unpackError(answer.error))
    else waiting?.resolve(answer.value)
  }

  /** Who waits for the call; each is settled once. */
  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    clearTimeout(waiting?.deadline)
    this.#waiting.delete(id)
    return waiting
  }
}

/** Longer than a change waits for its turn and for the lock. */
const PATIENCE_MS = 30_000

function tooLate(): AppError {
  return databaseUnavailable(new Error(`waited ${PATIENCE_MS} ms for the thread`))
}

/** With the extension of this file: the source, or what was emitted. */
const THREAD = new URL(`writer-thread${extname(import.meta.filename)}`, import.meta.url)

/** Enough for what a group of transactions leaves behind, where no flag of V8 says otherwise. */
const LIMITS = { maxYoungGenerationSizeMb: 8 }
