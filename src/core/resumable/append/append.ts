import { createHash, type Hash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import { actorOf, watchAccess } from '../../auth/subject.ts'
import { isAppError } from '../../errors.ts'
import { contentFault } from '../../files/file-name.ts'
import { sentMetadata } from '../upload-metadata.ts'
import type { MemoryAllocation } from '../../memory/allocation.ts'
import { detachBuffer } from '../../objects/object-store.ts'
import { insufficientStorage } from '../../uploads/free-space.ts'
import type { IncomingFile } from '../../uploads/store-content.ts'
import { GrowingReservation, UNRESERVED_BYTES } from '../../uploads/reservation.ts'
import { REVERIFY_MS } from '../../uploads/upload.ts'
import { createByteMeter } from '../../uploads/byte-meter.ts'
import { AppendRecorder, removeFenced } from './append-recorder.ts'
import type { AppendObject, Durable } from '../../objects/append-store.ts'
import { assertFits, type Claimed, claimedEpoch, claimUpload } from './claim-upload.ts'
import { abortLost } from '../abort.ts'
import type { HeldUpload } from '../finish.ts'
import type { NamedUpload } from '../named-upload.ts'
import {
  checksumMismatch,
  isBrokenOff,
  isTooLong,
  lengthExceeded,
  storedNothing,
} from '../refusals.ts'
import type { ResumableUpload } from '../resumable-ledger.ts'
import { type ResumableOptions, tailBytes } from '../resumable-options.ts'
import { type DigestCache, RunningDigest } from './running-digest.ts'
import type { RunningAppend, RunningAppends, StopReason } from './running-appends.ts'

export interface AppendOptions extends ResumableOptions {
  readonly running: RunningAppends
  readonly digests: DigestCache
}

/** What the head of a request says about an append. */
export interface AnnouncedAppend extends NamedUpload {
  /** The offset at which the body begins. */
  readonly offset: number
  /** Declares a deferred length. */
  readonly length?: number | undefined
  /** Declares the digest of the whole content: 64 lower-case hexadecimal digits. */
  readonly sha256?: string | undefined
  /** Makes the append atomic: nothing counts unless the body has this digest, in base64. */
  readonly checksum?: { readonly algorithm: 'sha1' | 'sha256'; readonly digest: string } | undefined
}

export interface AppendToUpload extends AnnouncedAppend {
  readonly bodySize: number | undefined
  /**
   * Called once when the append has begun. The content must end, without an error, when the client disconnects or is
   * too slow, or when `stop` aborts; `end` then rejects with the reason.
   */
  readonly open: (stop: AbortSignal) => IncomingFile & Disposable
  /** The request's signal. Ends the wait for memory; received bytes are kept. */
  readonly signal: AbortSignal
  /** Aborts when the grace period of a shutdown ends. */
  readonly shutdown: AbortSignal
}

export interface AppendEnd {
  /** The recorded offset, at which the next append begins. */
  readonly offset: number
  /** Why the append ended early; `broken` if its body did. */
  readonly cut: StopReason | 'fenced' | 'broken' | undefined
}

export interface AppendResult extends AppendEnd {
  /** Set if all bytes are recorded: the upload, held for its finish. */
  readonly sealed: HeldUpload | undefined
}

/**
 * Adds the bytes of one request to an open upload, at its recorded offset. However the body ends, the received bytes
 * are kept, unless the request has a checksum. Rejects with `offset_mismatch`, `upload_length_exceeded`,
 * `file_too_large` and `checksum_mismatch`; with `unavailable` if no byte could be recorded; and as
 * `ResumableLedger.prepareAppend` does.
 */
export async function appendBytes(
  options: AppendOptions,
  request: AppendToUpload,
  found: ResumableUpload,
): Promise<AppendResult> {
  const { ledger } = options
  const { subject, version, length, sha256, signal } = request
  const appended = { ...actorOf(subject), version }
  const upload = { ...found, length: found.length ?? length }
  assertFits(options, request, upload)
  const bytes = upload.length ?? upload.offset + (request.bodySize ?? 0)
  const { credential, offset } = upload
  // Of a link, every byte that arrives counts against its limit at once.
  const unreserved = upload.linkId === undefined ? UNRESERVED_BYTES : 0
  const arrived = offset > unreserved ? offset : 0
  const reserved = credential === undefined ? bytes : arrived
  await ledger.prepareAppend({ ...appended, bytes, reserved, length, sha256 })
  // It neither adds a byte nor seals the upload, so it need not claim it.
  if (request.bodySize === 0 && upload.offset !== upload.length) {
    assertChecksum(request, request.checksum && createHash(request.checksum.algorithm))
    // The offset was only read, and no record follows.
    await ledger.confirm()
    return { offset: upload.offset, sealed: undefined, cut: undefined }
  }
  using allocation = await options.memory.allocate({ userId: subject.userId, credential, signal })
  using running = options.running.start({ version, epoch: claimedEpoch(upload) })
  const claimed = await claimUpload(options, request, upload)
  using recorder = new AppendRecorder(options, {
    upload: { ...claimed.upload, storeState: claimed.plan.ifUnused },
    isAtomic: request.checksum !== undefined,
  })
  const extend = (bytes: number): Promise<void> => ledger.prepareAppend({ ...appended, bytes })
  const covered = credential === undefined ? bytes : Math.max(offset, unreserved)
  const reservation = new GrowingReservation({ covered, max: upload.length, extend })
  const append = { ...claimed, allocation, running, recorder, reservation }
  try {
    return await receive(options, request, append)
  } catch (error) {
    await recorder.release()
    throw error
  } finally {
    if (recorder.isFenced) await removeFenced(options, append)
  }
}

interface Append extends Claimed {
  readonly allocation: MemoryAllocation
  readonly running: RunningAppend
  readonly recorder: AppendRecorder
  readonly reservation: GrowingReservation
}

async function receive(
  options: AppendOptions,
  request: AppendToUpload,
  append: Append,
): Promise<AppendResult> {
  const { upload, allocation, running, recorder, reservation } = append
  const { version, offset, length, partSize } = upload
  const state = options.digests.take(version, offset)
  const digest = state && new RunningDigest({ offset, state }, partSize)
  const checksum = request.checksum && createHash(request.checksum.algorithm)
  const room = append.plan.extraBytes + (request.bodySize ?? 0)
  const claim = await options.space?.claim(room)
  try {
    using access = watchAccess(request.subject, options.reverifyMs ?? REVERIFY_MS)
    const stop = AbortSignal.any([running.stop, allocation.evicted, recorder.lost, access.lost])
    using incoming = request.open(stop)
    const meter = createByteMeter({
      offset,
      maxBytes: length === undefined ? options.maxFileSize : Infinity,
      digests: [digest, checksum],
      onBytes: (end) => {
        const fault = contentFault(upload.name, end)
        if (fault !== undefined) return Promise.reject(fault)
        if (length !== undefined && end > length) return Promise.reject(lengthExceeded(length))
        if (options.space?.hasSpace() === false) return Promise.reject(insufficientStorage())
        return reservation.cover(end)
      },
    })
    allocation.watch(meter)
    const flow = failureOf(pipeline(incoming.content, meter.stream))
    const signal = AbortSignal.any([request.shutdown, recorder.lost])
    const { bodySize } = request
    const stored = await storeBytes(options, append, { body: meter.stream, bodySize, signal })
    if (stored === undefined) return await endLost(options, append)
    options.onAppended?.(tailBytes(append.tail, stored.durable))
    // `incoming.end` of a body that was not read to its end reports only that.
    const failure = stored.failure ?? (await refusalOf(flow)) ?? (await failureOf(incoming.end()))
    if (access.lost.aborted) throw access.lost.reason
    if (failure === undefined) assertChecksum(request, checksum)
    const { durable, isInterrupted = false } = stored
    const { digests } = options
    return await endAppend(append, { durable, failure, isInterrupted, digest, digests })
  } catch (error) {
    claim?.release()
    throw error
  }
}

interface Stored {
  readonly durable: Durable
  readonly failure?: unknown
  /** The store failed, not the body. */
  readonly isInterrupted?: boolean
}

/** Aborts an upload whose bytes the store has lost, unless another append holds it now. */
async function endLost(
  options: AppendOptions,
  { upload, recorder }: Append,
): Promise<AppendResult> {
  const { offset } = upload
  if (!(await recorder.end(recorder.latest, undefined))) {
    return { offset, sealed: undefined, cut: 'fenced' }
  }
  throw await abortLost(options, upload)
}

/** If the store fails, only bytes that were not durable yet are lost. `undefined` if the store has lost the upload. */
async function storeBytes(
  { objects }: AppendOptions,
  { upload, tail, tailKey, allocation, recorder }: Append,
  { body, bodySize, signal }: Pick<AppendObject, 'body' | 'bodySize' | 'signal'>,
): Promise<Stored | undefined> {
  const { objectKey: key, partSize, storeState, offset, length } = upload
  recorder.note({ ...recorder.latest, storeState })
  try {
    return await objects.append({
      key,
      partSize,
      storeState,
      body,
      bodySize,
      offset,
      length,
      tail,
      tailKey,
      metadata: sentMetadata(upload),
      memory: allocation,
      release: detachBuffer,
      onDurable: (durable) => recorder.note(durable),
      onTail: (bytes) => recorder.noteTail(bytes),
      signal,
    })
  } catch (failure) {
    body.destroy()
    return { durable: recorder.latest, failure, isInterrupted: true }
  }
}

interface Ended {
  readonly durable: Durable
  readonly failure: unknown
  readonly isInterrupted: boolean
  readonly digest: RunningDigest | undefined
  readonly digests: DigestCache
}

/**
 * Records what is durable, and seals an upload that has all its bytes. A broken body is no failure if some of its bytes
 * were stored.
 */
async function endAppend(append: Append, ended: Ended): Promise<AppendResult> {
  const { upload, running, recorder } = append
  const { durable, failure, isInterrupted, digest, digests } = ended
  if (recorder.isAtomic && failure !== undefined) return await endWithoutBytes(append, failure)
  if (isTooLong(failure)) {
    await recorder.discard()
    throw failure
  }
  const { offset } = durable
  const state = digest?.at(offset)
  // Otherwise its last bytes may still be a tail, which `finish` cannot use.
  const hasReached = offset > upload.offset || !isInterrupted
  const isWhole = offset === upload.length && hasReached
  const seal = isWhole ? { digest: state?.end() } : undefined
  const cut = running.stopped()
  if (!(await recorder.end(durable, seal))) return { offset, sealed: undefined, cut: 'fenced' }
  const { storeState, isFinished } = durable
  const sealed = seal && {
    ...upload,
    state: 'sealed' as const,
    offset,
    storeState,
    digest: seal.digest,
    isFinished,
  }
  if (state !== undefined && sealed === undefined) digests.put(upload.version, { offset, state })
  if (failure === undefined || sealed || cut !== undefined) return { offset, sealed, cut }
  if (offset > upload.offset && isBrokenOff(failure)) return { offset, sealed, cut: 'broken' }
  throw storedNothing(failure)
}

/** A client whose append was taken over is told nothing, as by `endAppend`. */
async function endWithoutBytes(append: Append, failure: unknown): Promise<AppendResult> {
  const { upload, running, recorder } = append
  const cut = running.stopped()
  if (cut !== 'superseded' && !recorder.isFenced) throw storedNothing(failure)
  await recorder.discard()
  return { offset: upload.offset, sealed: undefined, cut: recorder.isFenced ? 'fenced' : cut }
}

function assertChecksum({ checksum }: AppendToUpload, hash: Hash | undefined): void {
  if (checksum === undefined || hash?.digest('base64') === checksum.digest) return
  throw checksumMismatch()
}

/** Ignores the error of a stream that was destroyed because another one in the pipeline failed. */
async function refusalOf(work: Promise<unknown>): Promise<unknown> {
  const failure = await work
  return isAppError(failure) ? failure : undefined
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
    return undefined
  } catch (error) {
    return error
  }
}
