import { timeoutSignal } from '../../../core/async/deadline.ts'
import type { Permit } from '../../../core/async/fair-semaphore.ts'
import type { AppendObject, StoredAppend } from '../../../core/objects/append-store.ts'
import { isTooLong } from '../../../core/resumable/refusals.ts'
import type { BufferPool } from '../../buffer-pool.ts'
import { receiveBody, type ReceivingBody } from '../../receive-body.ts'
import type { S3Bucket } from '../bucket.ts'
import { abortUpload } from '../delete-object.ts'
import { MultipartUpload, type OpenMultipart, type SentPart } from '../multipart-upload.ts'
import {
  type FirstPart,
  gatherParts,
  type GatheredPart,
  type GatherOptions,
  joinContents,
  type Part,
  type PartContent,
} from '../parts.ts'
import { putContent } from '../put-content.ts'
import { isForgotten } from './forgotten.ts'
import { formatReceipt, parseObjectState } from './store-state.ts'
import { Progress } from './progress.ts'
import { piecesToMerge, readTail } from './tail.ts'

export interface AppendObjectOptions {
  readonly append: AppendObject
  readonly pool: BufferPool
  /** Parts in flight. */
  readonly concurrency: number
}

/** Implements the port's `append`. Part k always holds the bytes from (k - 1) * partSize on, whatever the appends. */
export async function appendObject(
  bucket: S3Bucket,
  options: AppendObjectOptions,
): Promise<StoredAppend | undefined> {
  try {
    return await appendBody(bucket, options)
  } catch (error) {
    options.append.body.destroy()
    throw error
  }
}

async function appendBody(
  bucket: S3Bucket,
  options: AppendObjectOptions,
): Promise<StoredAppend | undefined> {
  const { append } = options
  const appending = new ObjectAppend(bucket, options)
  try {
    const received = await receiveBody(append, (receiving) => appending.store(receiving))
    const { failure = appending.refusal } = received
    const durable = appending.progress.durable()
    return failure === undefined ? { durable } : { durable, failure: failure.error }
  } catch (error) {
    appending.end()
    const { multipart } = appending
    const cause = error instanceof Error ? error.cause : undefined
    const { key, signal } = append
    const call = multipart && { key, uploadId: multipart.uploadId, cause, signal }
    if (call !== undefined && (await isForgotten(bucket, call))) return undefined
    throw error
  }
}

class ObjectAppend {
  readonly progress: Progress
  /** The upload that parts were sent to, by this append or an earlier one. */
  multipart: OpenMultipart | undefined
  /** Why no memory was granted. That is no failure of the store: what was gathered before is stored. */
  refusal: { readonly error: unknown } | undefined
  readonly #bucket: S3Bucket
  readonly #options: AppendObjectOptions
  /** First byte of the part that the append begins in. */
  readonly #partStart: number
  /** Whether the body may still become the object itself, by one request. */
  #intendsWhole: boolean
  #hasFailed = false
  /** Gathered bytes that do not complete a part. */
  #rest: PartContent | undefined

  constructor(bucket: S3Bucket, options: AppendObjectOptions) {
    const { offset, partSize, storeState } = options.append
    const { whole, ...state } = parseObjectState(storeState)
    this.#bucket = bucket
    this.#options = options
    this.#partStart = offset - (offset % partSize)
    this.#intendsWhole = whole === 'intended'
    this.multipart = state.multipart
    const noted = whole === 'stored' ? { ...state, whole } : state
    this.progress = new Progress(options.append, { state: noted, partStart: this.#partStart })
  }

  async store({ bytes, signal, broken }: ReceivingBody): Promise<void> {
    const { pool, append } = this.#options
    const { offset, partSize, tail, memory, release } = append
    const { bodySize = Infinity, length = Infinity } = append
    const partStart = this.#partStart
    if (partStart + tail.reduce((sum, { size }) => sum + size, 0) !== offset) {
      throw new Error('The pieces after the last full part do not reach the offset')
    }
    // An append stored the last part and died before it sealed the upload.
    if (tail.some(({ objectKey }) => objectKey === undefined)) return await expectEnd(bytes)
    const heldBefore = offset - partStart
    const first: FirstPart = {
      partNumber: partStart / partSize + 1,
      bytes: Math.min(partSize - heldBefore, length - offset),
      heldBefore,
    }
    const stop = AbortSignal.any([signal, broken])
    const acquire = memory && ((bytes: number) => this.#unlessRefused(memory.acquire(bytes, stop)))
    const expectedSize = Math.min(bodySize, length - offset)
    const gathering = { partSize, first, expectedSize, pool, acquire, release }
    const gathered = gatherParts(bytes, gathering)
    try {
      if (this.#intendsWhole) await this.#storeWhole(gathered, { signal, broken })
      else await this.#storeParts(this.#completeParts(gathered, { acquire, signal }), signal)
      if (this.#rest !== undefined) await this.#storeTail(this.#rest, signal)
    } finally {
      void gathered.return()
    }
  }

  /** Called when the append has failed. */
  end(): void {
    this.#hasFailed = true
    this.#clearIntent()
    this.progress.end()
  }

  /** If the object itself was not written, the next append may go on with this upload. */
  #clearIntent(): void {
    if (this.#intendsWhole) this.progress.reportState()
    this.#intendsWhole = false
  }

  /** Writes the object itself if the body had all of the content. */
  async #storeWhole(
    gathered: AsyncGenerator<Part, void>,
    { signal, broken }: Pick<ReceivingBody, 'signal' | 'broken'>,
  ): Promise<void> {
    const { key, metadata, length } = this.#options.append
    const { value: only } = await gathered.next()
    // Other bytes may be sent in place of these, and the object is written only once.
    if (isTooLong(broken.reason)) return this.#clearIntent()
    if (only === undefined) throw new TypeError('A content has at least one part')
    const { content, isLast } = only
    signal.throwIfAborted()
    const size = content.byteLength
    this.#assertWithin(isLast ? size : size + 1)
    if (size !== length) {
      this.#clearIntent()
      if (size > 0) this.#rest = content
      return
    }
    this.#intendsWhole = false
    const object = { key, metadata, content, signal }
    const { etag, isConfirmed } = await putContent(this.#bucket, object)
    content.giveBack()
    const receipt = formatReceipt({ etag, crc32: undefined })
    this.progress.addWhole({ firstByte: 0, size, receipt, objectKey: undefined }, isConfirmed)
  }

  async #unlessRefused(permit: Promise<Permit>): Promise<Permit | undefined> {
    try {
      return await permit
    } catch (error) {
      this.refusal = { error }
      return undefined
    }
  }

  async #storeParts(complete: AsyncGenerator<Part, void>, signal: AbortSignal): Promise<void> {
    const { concurrency, append } = this.#options
    const { key, metadata, partSize } = append
    const { value: first } = await complete.next()
    if (first === undefined) return
    const upload = new MultipartUpload(this.#bucket, {
      key,
      metadata,
      partSize,
      concurrency,
      signal,
      open: this.multipart,
      onCreated: (multipart) => this.#onCreated(multipart),
      onSent: (part, multipart) => this.#onSent(part, multipart),
    })
    await upload.send(first, complete)
  }

  #onCreated(multipart: OpenMultipart): void {
    if (this.#hasFailed) void this.#abandon(multipart)
    else this.progress.setMultipart(multipart)
  }

  /** Aborts an upload that nobody else knows: the store created it after the append had failed. Never rejects. */
  async #abandon({ uploadId }: OpenMultipart): Promise<void> {
    const { key } = this.#options.append
    const signal = timeoutSignal(this.#bucket.deadlines.cleanupMs)
    await abortUpload(this.#bucket, { key, uploadId, signal }).catch(() => undefined)
  }

  #onSent(part: SentPart, multipart: OpenMultipart): void {
    const { partNumber, byteLength: size } = part
    const firstByte = (partNumber - 1) * this.#options.append.partSize
    this.multipart = multipart
    const piece = { firstByte, size, receipt: formatReceipt(part), objectKey: undefined }
    this.progress.addPart(piece)
  }

  /** Yields parts that are full or end at the length, the first one with the tail before it. Sets `#rest`. */
  async *#completeParts(
    gathered: AsyncIterable<GatheredPart>,
    { acquire, signal }: Pick<GatherOptions, 'acquire'> & { readonly signal: AbortSignal },
  ): AsyncGenerator<Part, void> {
    const { offset, partSize, length, tail: pieces } = this.#options.append
    let firstByte = this.#partStart
    let heldBefore = offset - firstByte
    for await (const part of gathered) {
      const { content } = part
      const size = heldBefore + content.byteLength
      this.#assertWithin(firstByte + size)
      const isComplete = size === partSize || (size > 0 && firstByte + size === length)
      if (!isComplete) {
        if (content.byteLength > 0) this.#rest = content
        return
      }
      if (heldBefore === 0) yield part
      else {
        // First bytes have no permit, so this append holds nothing that others wait for.
        if (acquire !== undefined) content.permit ??= await acquire(size)
        if (this.refusal !== undefined) return
        const tail = await readTail(this.#bucket, { pool: this.#options.pool, pieces, signal })
        yield { ...part, content: joinContents([tail, content]) }
      }
      firstByte += size
      heldBefore = 0
    }
  }

  /** Adds an object to the tail, or replaces its small objects by one if memory is free. */
  async #storeTail(rest: PartContent, signal: AbortSignal): Promise<void> {
    const { pool, append } = this.#options
    const { tailKey, tail, memory, onTail } = append
    if (tailKey === undefined) throw new TypeError('An append needs a key for its tail')
    const end = this.progress.durable().offset
    const merged = this.progress.isEmpty ? piecesToMerge(tail) : []
    const bytes = merged.reduce((sum, { size }) => sum + size, 0)
    const permit = bytes > 0 ? memory?.tryAcquire(bytes) : undefined
    const pieces = memory === undefined || permit !== undefined ? merged : []
    const read = await readTail(this.#bucket, { pool, pieces, signal })
    read.permit = permit
    const content = joinContents([read, rest])
    const size = content.byteLength
    onTail(size)
    const object = { key: tailKey, metadata: TAIL, content, signal }
    const { etag } = await putContent(this.#bucket, object)
    content.giveBack()
    const receipt = formatReceipt({ etag, crc32: undefined })
    this.progress.addTail({ firstByte: end - read.byteLength, size, receipt, objectKey: tailKey })
  }

  #assertWithin(end: number): void {
    const { length = Infinity } = this.#options.append
    if (end > length) throw beyondLength()
  }
}

async function expectEnd(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const { byteLength } of bytes) if (byteLength > 0) throw beyondLength()
}

function beyondLength(): Error {
  return new Error('The body goes beyond the length')
}

const TAIL = { tail: '1' }
