import { randomUUID } from 'node:crypto'
import { settledWithin } from '../../async/deadline.ts'
import { sleep } from '../../async/sleep.ts'
import type { Version } from '../../objects/object-key.ts'
import { uploadBusy } from '../refusals.ts'
import type { NamedResumable, ResumableUpload } from '../resumable-ledger.ts'
import type { ResumableOptions } from '../resumable-options.ts'

/** Why an append was told to stop: another request wants the upload, or the service is stopping. */
export type StopReason = 'superseded' | 'shutdown'

export interface RunningAppend extends Disposable {
  /** Aborts when the append must stop reading. */
  readonly stop: AbortSignal
  /** Why the append was told to stop; `undefined` if it was not. */
  stopped(): StopReason | undefined
}

interface Entry extends NamedRelease {
  readonly stop: AbortController
  reason?: StopReason
  readonly ended: PromiseWithResolvers<void>
}

/** How long an append may take to record what it has received and to release the upload. Then it is fenced. */
export const MAX_WAIT_MS = 4_000
/** An append whose client has disconnected ends within milliseconds; one that is asked to stop, within 1 s. */
const FIRST_LOOK_MS = 10
const MAX_LOOK_MS = 200
/** How many appends to one upload a request waits for, one after the other. */
const MAX_TAKEOVERS = 3

type Ports = Pick<ResumableOptions, 'ledger' | 'objects'>

/** The appends of this instance. Lets a new one take over an upload from another one, on any instance. */
export class RunningAppends {
  /** Identifies this instance in the ledger's claims. */
  readonly holder = randomUUID()
  readonly releases = new PendingReleases()
  readonly #ports: Ports
  readonly #running = new Set<Entry>()
  #isStopping = false

  constructor(ports: Ports) {
    this.#ports = ports
  }

  get size(): number {
    return this.#running.size
  }

  /**
   * Registers an append before it claims its upload. Disposal reports its end to the requests that wait for it. Throws
   * `upload_busy` if another append of this instance may have that epoch: the two could not tell their claims apart.
   */
  start({ version, epoch }: NamedRelease): RunningAppend {
    const own = this.#ownOf(version)
    if (own.some((entry) => entry.epoch === epoch) || this.releases.has({ version, epoch })) {
      throw uploadBusy()
    }
    const ended = Promise.withResolvers<void>()
    const entry: Entry = { version, epoch, stop: new AbortController(), ended }
    this.#running.add(entry)
    if (this.#isStopping) stop(entry, 'shutdown')
    return {
      stop: entry.stop.signal,
      stopped: () => entry.reason,
      [Symbol.dispose]: () => {
        this.#running.delete(entry)
        entry.ended.resolve()
      },
    }
  }

  /**
   * Guarantees that no earlier append can record any more bytes. The running one is asked to record what it has
   * received; if it does not end in time, it is fenced. An append that begins meanwhile is asked, too. Resolves to the
   * upload as it is then. Rejects with `upload_busy` if appends keep beginning, or if the store says that the running
   * one may not be fenced.
   */
  async takeOver(
    named: NamedResumable,
    upload: ResumableUpload,
    signal: AbortSignal,
  ): Promise<ResumableUpload | undefined> {
    const { ledger, objects } = this.#ports
    await this.releases.retry(named.version)
    let current = upload
    for (let times = 0; times < MAX_TAKEOVERS; times += 1) {
      const asked = await this.#askToEnd(named, current, signal)
      if (asked === undefined) return current
      const found = await ledger.findResumable(named)
      if (found?.holder === undefined || found.state !== 'open') return found
      const { userId, version, epoch, isHeld, storeState } = found
      if (epoch === asked) {
        if (isHeld && !objects.isFenceable(storeState)) throw uploadBusy()
        if (await ledger.fence({ userId, version, epoch })) return await ledger.findResumable(named)
      }
      current = found
    }
    throw uploadBusy()
  }

  /** Resolves to the epoch of the append that had time to end; to `undefined` if none holds the upload. */
  async #askToEnd(
    named: NamedResumable,
    upload: ResumableUpload,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { epoch, holder } = upload
    // It has the claim, or asks for it. One with an older epoch was fenced, and another instance may have the claim.
    const own = this.#ownOf(named.version).find((entry) => entry.epoch >= epoch)
    if (own !== undefined) {
      await this.#stopHere(own, 'superseded')
      return own.epoch
    }
    if (holder === undefined) return undefined
    await this.#stopElsewhere(named, upload, signal)
    return epoch
  }

  /**
   * Stops the append of this instance to an upload that has been cancelled, and resolves when it has ended. One of
   * another instance stops within about a second: ending the upload asks it to.
   */
  async endCancelled(version: Version): Promise<void> {
    const own = this.#ownOf(version)
    await Promise.all(own.map((entry) => this.#stopHere(entry, 'superseded')))
  }

  /** Stops the appends of this instance that other instances have asked for, and repeats releases that failed. */
  async stopAsked(): Promise<void> {
    await this.releases.retry()
    if (this.#running.size === 0) return
    for (const version of await this.#ports.ledger.listAskedToStop(this.holder)) {
      for (const entry of this.#ownOf(version)) stop(entry, 'superseded')
    }
  }

  /**
   * Stops all appends, including later ones. Resolves when they have recorded their bytes, or after twice
   * `MAX_WAIT_MS`.
   */
  async stopAll(): Promise<void> {
    this.#isStopping = true
    await Promise.all([...this.#running].map((entry) => this.#stopHere(entry, 'shutdown')))
    await settledWithin(MAX_WAIT_MS, this.releases.retry())
  }

  #ownOf(version: Version): readonly Entry[] {
    return [...this.#running].filter((entry) => entry.version === version)
  }

  async #stopHere(entry: Entry, reason: StopReason): Promise<void> {
    stop(entry, reason)
    await settledWithin(MAX_WAIT_MS, entry.ended.promise)
  }

  async #stopElsewhere(
    named: NamedResumable,
    upload: ResumableUpload,
    signal: AbortSignal,
  ): Promise<void> {
    if (!upload.isHeld || upload.state !== 'open') return
    await this.#ports.ledger.askToStop(named)
    let lookMs = FIRST_LOOK_MS
    for (let waitedMs = 0; waitedMs < MAX_WAIT_MS; waitedMs += lookMs) {
      await sleep(lookMs, signal)
      const found = await this.#ports.ledger.findResumable(named)
      if (found?.isHeld !== true || found.epoch !== upload.epoch) return
      lookMs = Math.min(2 * lookMs, MAX_LOOK_MS)
    }
  }
}

function stop(entry: Entry, reason: StopReason): void {
  entry.reason ??= reason
  entry.stop.abort(reason)
}

interface NamedRelease {
  readonly version: Version
  /** Of the claim. */
  readonly epoch: number
}

interface Release extends NamedRelease {
  /** Repeatable. */
  readonly run: () => Promise<unknown>
  readonly since: number
  attempt?: Promise<void> | undefined
}

/** An upload whose release has failed for so long is left to its next append, which takes it over. */
const GIVE_UP_MS = 15 * 60_000

/**
 * Releases of claims that the database has not confirmed. Without them, an upload would look as if its instance had
 * died, and its next append would copy its bytes or find it lost.
 */
export class PendingReleases {
  readonly #pending = new Set<Release>()

  get size(): number {
    return this.#pending.size
  }

  has({ version, epoch }: NamedRelease): boolean {
    return [...this.#pending].some((each) => each.version === version && each.epoch === epoch)
  }

  /** Runs the release, and leaves it to `retry` if it fails. Never rejects. */
  async settle({ version, epoch }: NamedRelease, run: Release['run']): Promise<void> {
    const release = { version, epoch, run, since: performance.now() }
    this.#pending.add(release)
    await this.#attempt(release)
  }

  /** Repeats the releases of all uploads, or of one. Never rejects. */
  async retry(version?: Version): Promise<void> {
    const all = [...this.#pending]
    const due = all.filter((each) => version === undefined || each.version === version)
    await Promise.all(due.map((release) => this.#attempt(release)))
  }

  #attempt(release: Release): Promise<void> {
    release.attempt ??= this.#run(release)
    return release.attempt
  }

  async #run(release: Release): Promise<void> {
    try {
      await release.run()
      this.#pending.delete(release)
    } catch {
      if (performance.now() - release.since >= GIVE_UP_MS) this.#pending.delete(release)
    }
    release.attempt = undefined
  }
}
