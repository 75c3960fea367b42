import { AppError } from '../../errors.ts'
import type { Durable } from '../../objects/append-store.ts'
import type { RecordAppend, ResumableUpload, ResumableLedger } from '../resumable-ledger.ts'
import type { RunningAppends } from './running-appends.ts'
import { timeoutSignal } from '../../async/deadline.ts'
import type { ObjectKey } from '../../objects/object-key.ts'
import type { ResumableOptions } from '../resumable-options.ts'

export interface RecorderOptions {
  readonly ledger: Pick<ResumableLedger, 'recordAppend'>
  readonly running: Pick<RunningAppends, 'releases'>
  /** How often the bytes are recorded. */
  readonly recordMs?: number | undefined
}

export interface RecordedAppend {
  /** The upload as claimed. */
  readonly upload: ResumableUpload
  /** Whether nothing counts before the end of the append. */
  readonly isAtomic: boolean
}

/** The lease of an append, or of a finish. Each record renews it. */
export const HOLDER_MS = 15_000

/** After a crash, at most this much time and the parts in memory are sent again. */
const RECORD_MS = 5_000

/**
 * Records in the ledger what an append has made durable, every 5 s and at its end, one record at a time. Disposal stops
 * the timer and records nothing.
 */
export class AppendRecorder implements Disposable {
  readonly isAtomic: boolean
  readonly #options: RecorderOptions
  readonly #upload: ResumableUpload
  readonly #lost = new AbortController()
  /** Aborts when nothing more can be recorded: another append took over, or the ledger failed for a whole lease. */
  readonly lost = this.#lost.signal
  readonly #timer: NodeJS.Timeout
  #latest: Durable
  #recorded: number
  #isReleased = false
  #sentTailBytes: number | undefined
  #heldUntil = performance.now() + HOLDER_MS
  #last: Promise<boolean> = Promise.resolve(true)

  constructor(options: RecorderOptions, { upload, isAtomic }: RecordedAppend) {
    this.isAtomic = isAtomic
    this.#options = options
    this.#upload = upload
    const { offset, storeState } = upload
    this.#latest = { offset, replacedFrom: offset, pieces: [], storeState }
    this.#recorded = offset
    const { recordMs = RECORD_MS } = options
    this.#timer = setInterval(() => void this.#renew(), recordMs).unref()
  }

  get latest(): Durable {
    return this.#latest
  }

  /** Whether another append took over, or the upload has ended. */
  get isFenced(): boolean {
    return this.lost.reason === FENCED
  }

  note(durable: Durable): void {
    this.#latest = durable
  }

  /** Called before anything is sent under the tail key. */
  noteTail(bytes: number): void {
    this.#sentTailBytes = bytes
  }

  /**
   * Records the end of the append and releases the upload or, if it is sealed, holds it for its finish. `false` if
   * another append took over.
   */
  async end(durable: Durable, sealed: RecordAppend['sealed']): Promise<boolean> {
    clearInterval(this.#timer)
    const sentTailBytes = this.#sentTailBytes
    return await this.#record(durable, { holderMs: sealed && HOLDER_MS, sealed, sentTailBytes })
  }

  /** Records what counts so far and releases the upload, later if that fails. Never rejects. */
  async release(): Promise<void> {
    if (this.isAtomic) await this.discard()
    else await this.#release(this.#latest)
  }

  /** Releases the upload with what was recorded before, as `release`. */
  async discard(): Promise<void> {
    await this.#last.catch(() => undefined)
    await this.#release(this.#recordedBefore())
  }

  async #release(durable: Durable): Promise<void> {
    clearInterval(this.#timer)
    if (this.isFenced || this.#isReleased) return
    this.#isReleased = true
    const release = { holderMs: undefined, sentTailBytes: this.#sentTailBytes }
    const run = () => this.#record(durable, release)
    await this.#options.running.releases.settle(this.#upload, run)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  async #renew(): Promise<void> {
    const askedAt = performance.now()
    try {
      const isRecorded = await this.#record(this.#counted(), { holderMs: HOLDER_MS })
      if (isRecorded) this.#heldUntil = askedAt + HOLDER_MS
    } catch (cause) {
      // An earlier failure may be transient.
      if (performance.now() < this.#heldUntil) return
      const detail = 'The received bytes could not be recorded.'
      this.#lost.abort(new AppError('unavailable', detail, { cause, dependency: 'database' }))
    }
  }

  #counted(): Durable {
    return this.isAtomic ? this.#recordedBefore() : this.#latest
  }

  #recordedBefore(): Durable {
    const offset = this.#recorded
    return { ...this.#latest, offset, replacedFrom: offset, pieces: [] }
  }

  #record(durable: Durable, lease: Lease): Promise<boolean> {
    const record = async (): Promise<boolean> => {
      await this.#last.catch(() => undefined)
      const { userId, version, epoch, offset: claimedAt } = this.#upload
      const { offset, storeState, pieces } = durable
      // Pieces that an earlier record of this append contains need not be written again.
      const replacedFrom = this.#recorded > claimedAt ? this.#recorded : durable.replacedFrom
      const isRecorded = await this.#options.ledger.recordAppend({
        userId,
        version,
        epoch,
        offset,
        storeState,
        replacedFrom,
        pieces: pieces.filter(({ firstByte }) => firstByte >= replacedFrom),
        holderMs: lease.holderMs,
        sealed: lease.sealed,
        sentTailBytes: lease.sentTailBytes,
      })
      if (isRecorded) this.#recorded = offset
      else this.#lost.abort(FENCED)
      return isRecorded
    }
    this.#last = record()
    return this.#last
  }
}

const FENCED = 'superseded'

interface Lease {
  readonly holderMs: number | undefined
  readonly sealed?: RecordAppend['sealed']
  readonly sentTailBytes?: number | undefined
}

interface FencedAppend {
  readonly upload: ResumableUpload
  readonly tailKey: ObjectKey | undefined
  readonly recorder: Pick<AppendRecorder, 'latest'>
}

const REMOVE_MS = 3_000

/**
 * Removes what an append has stored although it was fenced, unless an earlier record of it counts. The upload may be
 * finished by now, and its tail key forgotten: an append that was suspended for long has missed every other removal.
 * Never rejects.
 */
export async function removeFenced(
  { ledger, objects }: Pick<ResumableOptions, 'ledger' | 'objects'>,
  { upload, tailKey, recorder }: FencedAppend,
): Promise<void> {
  const { userId, version, objectKey: key } = upload
  const { storeState, pieces } = recorder.latest
  const signal = timeoutSignal(REMOVE_MS)
  try {
    // Whatever this append has recorded was recorded before the fence.
    const found = await ledger.findResumable({ userId, version })
    await objects.removeFenced({ key, storeState, recorded: found?.storeState, signal })
    const tail = pieces.find(({ objectKey }) => objectKey !== undefined && objectKey === tailKey)
    if (tail?.objectKey === undefined) return
    const recorded = await ledger.listPieces(version)
    if (recorded.some(({ objectKey }) => objectKey === tailKey)) return
    await objects.remove({ key: tail.objectKey, signal })
  } catch {
    // If the store or the ledger fails now, the bytes remain until the file is removed.
  }
}
