import type { Ledger } from '../../../core/ledger/ledger.ts'
import type { UserStore } from '../../../core/users/user-store.ts'
import type { Methods, WriterCall, WriterPorts, WriterSettings } from './protocol.ts'
import { WriterThread } from './thread.ts'

/**
 * Has the changes of an embedded database made in a thread of their own, with a connection of its own: what they compute and
 * above all their writes to the disk keep no request waiting. The thread starts with the first upload. Until it is ready, and
 * when it has died, changes are made where they are asked for. Calls that wait for it when it dies, or for 30 s, reject with
 * `unavailable`, which says nothing about whether they have happened.
 */
export class Writer {
  readonly #settings: WriterSettings
  readonly #onDeath: (cause: unknown) => void
  #thread: WriterThread | undefined
  #nextStartAt = 0
  #isClosed = false

  /** `onDeath` is told why the thread has ended that was not closed, or cannot be started. It is tried again after a while. */
  constructor(settings: WriterSettings, onDeath: (cause: unknown) => void) {
    this.#settings = settings
    this.#onDeath = onDeath
  }

  /**
   * The same port, whose changes are made in the thread, which its uploads start. It takes plain data; a call with anything
   * else rejects.
   */
  ledger(ledger: Ledger): Ledger {
    const handedOver = this.#handOver('ledger', ledger)
    const begin: Ledger['begin'] = (upload) => {
      if (this.#thread === undefined) void this.start()
      return handedOver.begin(upload)
    }
    return { ...handedOver, begin }
  }

  /** The same port, whose changes are made in the thread when there is one. It takes plain data, as `ledger` does. */
  users(users: UserStore): UserStore {
    return this.#handOver('users', users)
  }

  /** Starts the thread, unless there is one or one has just died. Resolves when it is clear whether changes are made there. */
  async start(): Promise<void> {
    const mayStart = !this.#isClosed && performance.now() >= this.#nextStartAt
    if (this.#thread === undefined && mayStart) this.#startThread()
    await this.#thread?.started
  }

  /** Resolves when what the thread was asked for has ended, and the thread has, or does not in time. No other starts. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#thread?.close()
  }

  #startThread(): void {
    const onExit = (): void => {
      this.#thread = undefined
      this.#nextStartAt = performance.now() + RESTART_MS
    }
    try {
      this.#thread = new WriterThread(this.#settings, { onExit, onDeath: this.#onDeath })
    } catch (error) {
      onExit()
      this.#onDeath(error)
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

  #call(call: Omit<WriterCall, 'id' | 'until'>): Promise<unknown> | undefined {
    return this.#thread?.isReady === true ? this.#thread.call(call) : undefined
  }
}

/** Why a thread could not be started does not pass in a moment, and to try takes time from requests. */
const RESTART_MS = 10_000

/** Which methods run on the writer thread: all writes, and the health check. */
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
    endLeases: true,
    noteAbortedRemovals: true,
    forgetUploads: true,
    noteGarbageRemovals: true,
    purgeDeletedUsers: true,
    holdChore: true,
    leaveChore: true,
    listFiles: false,
    findFile: false,
    countUploads: false,
    checkBegin: false,
    usage: false,
    findAccount: false,
    listAccounts: false,
    reportCapacity: false,
    listExpiredUploads: false,
    findUserToPurge: false,
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
