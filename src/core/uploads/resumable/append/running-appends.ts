import { randomUUID } from 'node:crypto'
import { settledWithin } from '../../../async/deadline.ts'
import { sleep } from '../../../async/sleep.ts'
import type { Ledger } from '../../../ledger/ledger.ts'
import type { Version } from '../../../objects/object-key.ts'
import { uploadBusy } from '../refusals.ts'
import type { NamedResumable, ResumableUpload } from '../resumable-ledger.ts'

/** Why an append was told to stop: another request wants the upload, or the service is stopping. */
export type StopReason = 'superseded' | 'shutdown'

export interface RunningAppend extends Disposable {
  /** Aborts when the append must stop reading. */
  readonly stop: AbortSignal
  /** Why the append was told to stop; `undefined` if it was not. */
  stopped(): StopReason | undefined
}

interface Entry {
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

/** The appends of this instance. Lets a new one take over an upload from another one, on any instance. */
export class RunningAppends {
  /** Identifies this instance in the ledger's claims. */
  readonly holder = randomUUID()
  readonly #ledger: Ledger
  readonly #running = new Map<Version, Entry>()
  #isStopping = false

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  get size(): number {
    return this.#running.size
  }

  /** Registers an append that has claimed its upload. Disposal reports its end to the requests that wait for it. */
  start(version: Version): RunningAppend {
    const entry: Entry = { stop: new AbortController(), ended: Promise.withResolvers<void>() }
    this.#running.set(version, entry)
    if (this.#isStopping) stop(entry, 'shutdown')
    return {
      stop: entry.stop.signal,
      stopped: () => entry.reason,
      [Symbol.dispose]: () => {
        if (this.#running.get(version) === entry) this.#running.delete(version)
        entry.ended.resolve()
      },
    }
  }

  /**
   * Guarantees that no earlier append can record any more bytes. The running one is asked to record what it has
   * received; if it does not end in time, it is fenced. An append that begins meanwhile is asked, too. Resolves to the
   * upload as it is then; rejects with `upload_busy` if appends keep beginning.
   */
  async takeOver(
    named: NamedResumable,
    upload: ResumableUpload,
    signal: AbortSignal,
  ): Promise<ResumableUpload | undefined> {
    let current = upload
    for (let times = 0; times < MAX_TAKEOVERS; times += 1) {
      const own = this.#running.get(named.version)
      if (own === undefined && current.holder === undefined) return current
      if (own === undefined) await this.#stopElsewhere(named, current, signal)
      else await this.#stopHere(own, 'superseded')
      const found = await this.#ledger.findResumable(named)
      if (found?.holder === undefined || found.state !== 'open') return found
      const { userId, version, epoch } = found
      const wasAsked = epoch === current.epoch
      if (wasAsked && (await this.#ledger.fence({ userId, version, epoch }))) {
        return await this.#ledger.findResumable(named)
      }
      current = found
    }
    throw uploadBusy()
  }

  /**
   * Stops the append of this instance to an upload that has been cancelled, and resolves when it has ended. One of
   * another instance stops within about a second: ending the upload asks it to.
   */
  async endCancelled(version: Version): Promise<void> {
    const own = this.#running.get(version)
    if (own !== undefined) await this.#stopHere(own, 'superseded')
  }

  /** Stops the appends of this instance that other instances have asked for. */
  async stopAsked(): Promise<void> {
    if (this.#running.size === 0) return
    for (const version of await this.#ledger.listAskedToStop(this.holder)) {
      const entry = this.#running.get(version)
      if (entry !== undefined) stop(entry, 'superseded')
    }
  }

  /** Stops all appends, including later ones. Resolves when they have recorded their bytes, or after `MAX_WAIT_MS`. */
  async stopAll(): Promise<void> {
    this.#isStopping = true
    await Promise.all([...this.#running.values()].map((entry) => this.#stopHere(entry, 'shutdown')))
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
    await this.#ledger.askToStop(named)
    let lookMs = FIRST_LOOK_MS
    for (let waitedMs = 0; waitedMs < MAX_WAIT_MS; waitedMs += lookMs) {
      await sleep(lookMs, signal)
      const found = await this.#ledger.findResumable(named)
      if (found?.isHeld !== true || found.epoch !== upload.epoch) return
      lookMs = Math.min(2 * lookMs, MAX_LOOK_MS)
    }
  }
}

function stop(entry: Entry, reason: StopReason): void {
  entry.reason ??= reason
  entry.stop.abort(reason)
}
