import type { FirstPart } from '../../../core/objects/body-memory.ts'
import type { AppendObject, StoredAppend } from '../../../core/uploads/resumable/append-store.ts'
import type { BufferPool } from '../../buffer-pool.ts'
import { receiveBody } from '../../receive-body.ts'
import type { S3Bucket } from '../bucket.ts'
import { MultipartUpload, type OpenMultipart, type SentPart } from '../multipart-upload.ts'
import { gatherParts, joinContents, type Part, type PartContent } from '../parts.ts'
import { assertStored, isMd5, type PutContent, putContent } from '../put-content.ts'
import { isForgotten } from './forgotten.ts'
import { formatReceipt, parseStoreState } from './store-state.ts'
import { Progress } from './progress.ts'
import { piecesToMerge, readTail } from './tail.ts'

export interface AppendOptions {
  readonly append: AppendObject
  readonly pool: BufferPool
  /** Parts in flight. */
  readonly concurrency: number
}

/** Implements the port's `append`. Part k always holds the bytes from (k - 1) * partSize on, whatever the appends. */
export async function appendObject(
  bucket: S3Bucket,
  options: AppendOptions,
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
  options: AppendOptions,
): Promise<StoredAppend | undefined> {
  const { append } = options
  const { body, bodySize = Infinity, length = Infinity, offset, memory, partSize, signal } = append
  const appending = new Appending(bucket, options)
  const expectedSize = Math.min(bodySize, length - offset)
  const hold = { partSize, expectedSize, firstPart: appending.firstPart }
  try {
    const { failure } = await receiveBody({ body, memory, hold, signal }, (bytes, signal) =>
      appending.store(bytes, signal),
    )
    const durable = appending.progress.durable()
    return failure === undefined ? { durable } : { durable, failure: failure.error }
  } catch (error) {
    appending.end()
    const { multipart } = appending
    const cause = error instanceof Error ? error.cause : undefined
    const isLost =
      multipart !== undefined && (await isForgotten(bucket, { ...append, ...multipart, cause }))
    if (isLost) return undefined
    throw error
  }
}

class Appending {
  readonly progress: Progress
  /** The upload that parts were sent to, by this append or an earlier one. */
  multipart: OpenMultipart | undefined
  readonly #bucket: S3Bucket
  readonly #options: AppendOptions
  /** First byte of the part that the append begins in. */
  readonly #partStart: number
  /** Whether the body may still become the object itself, by one request. */
  #intendsWhole: boolean
  /** Gathered bytes that do not complete a part. */
  #rest: PartContent | undefined

  constructor(bucket: S3Bucket, options: AppendOptions) {
    const { offset, partSize, storeState } = options.append
    const { whole, ...state } = parseStoreState(storeState)
    this.#bucket = bucket
    this.#options = options
    this.#partStart = offset - (offset % partSize)
    this.#intendsWhole = whole === 'intended'
    this.multipart = state.multipart
    const noted = whole === 'stored' ? { ...state, whole } : state
    this.progress = new Progress(options.append, { state: noted, partStart: this.#partStart })
  }

  get firstPart(): FirstPart {
    const { offset, partSize, length = Infinity } = this.#options.append
    const heldBefore = offset - this.#partStart
    return { contentBytes: Math.min(partSize - heldBefore, length - offset), heldBefore }
  }

  async store(bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
    const { pool, append } = this.#options
    const { offset, partSize, memory, tail } = append
    const partStart = this.#partStart
    if (partStart + tail.reduce((sum, { size }) => sum + size, 0) !== offset) {
      throw new Error('The pieces after the last full part do not reach the offset')
    }
    // An append stored the last part and died before it sealed the upload.
    if (tail.some(({ objectKey }) => objectKey === undefined)) return await expectEnd(bytes)
    const first = { partNumber: partStart / partSize + 1, bytes: partStart + partSize - offset }
    const gathered = gatherParts(bytes, { partSize, first, pool, memory })
    try {
      if (this.#intendsWhole) await this.#storeWhole(gathered, signal)
      else await this.#storeParts(gathered, signal)
      if (this.#rest !== undefined) await this.#storeTail(this.#rest, signal)
    } finally {
      void gathered.return()
    }
  }

  /** Called when the append has failed. */
  end(): void {
    this.#clearIntent()
    this.progress.end()
  }

  /** If the object itself was not written, the next append may go on with this upload. */
  #clearIntent(): void {
    if (this.#intendsWhole) this.progress.reportState()
    this.#intendsWhole = false
  }

  /** Writes the object itself if the body had all of the content. */
  async #storeWhole(gathered: AsyncGenerator<Part, void>, signal: AbortSignal): Promise<void> {
    const { key, metadata, length } = this.#options.append
    const { value: only } = await gathered.next()
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
    const etag = await this.#put({ key, metadata, content, signal })
    const isConfirmed = isMd5(etag, content)
    content.giveBack()
    const receipt = formatReceipt({ etag, crc32: undefined })
    this.progress.addWhole({ firstByte: 0, size, receipt, objectKey: undefined }, isConfirmed)
  }

  async #storeParts(gathered: AsyncGenerator<Part, void>, signal: AbortSignal): Promise<void> {
    const { concurrency, append } = this.#options
    const complete = this.#completeParts(gathered, signal)
    const { value: first } = await complete.next()
    if (first === undefined) return
    const upload = new MultipartUpload(this.#bucket, {
      ...append,
      concurrency,
      signal,
      open: this.multipart,
      onCreated: (multipart) => this.progress.setMultipart(multipart),
      onSent: (part, multipart) => this.#onSent(part, multipart),
    })
    await upload.send(first, complete)
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
    gathered: AsyncIterable<Part>,
    signal: AbortSignal,
  ): AsyncGenerator<Part, void> {
    const { partSize, length, tail: pieces, memory } = this.#options.append
    let { heldBefore } = this.firstPart
    let firstByte = this.#partStart
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
        const tail = await readTail(this.#bucket, { ...this.#options, pieces, memory, signal })
        yield { ...part, content: joinContents([tail, content]) }
      }
      firstByte += size
      heldBefore = 0
    }
  }

  /** Adds an object to the tail, or replaces its small objects by one if memory is free. */
  async #storeTail(rest: PartContent, signal: AbortSignal): Promise<void> {
    const { tailKey, tail, memory, onTail } = this.#options.append
    if (tailKey === undefined) throw new TypeError('An append needs a key for its tail')
    const end = this.progress.durable().offset
    const merged = this.progress.isEmpty ? piecesToMerge(tail) : []
    const bytes = merged.reduce((sum, { size }) => sum + size, 0)
    const isMerged = bytes > 0 && memory?.tryHold(bytes) !== false
    const pieces = isMerged ? merged : []
    const read = await readTail(this.#bucket, { ...this.#options, pieces, memory, signal })
    const content = joinContents([read, rest])
    const size = content.byteLength
    onTail(size)
    const etag = await this.#put({ key: tailKey, metadata: TAIL, content, signal })
    content.giveBack()
    const receipt = formatReceipt({ etag, crc32: undefined })
    this.progress.addTail({ firstByte: end - read.byteLength, size, receipt, objectKey: tailKey })
  }

  /** Resolves to the ETag if the store has stated it, else to `''`. */
  async #put(object: PutContent): Promise<string> {
    const { byteLength: size } = object.content
    const etag = await putContent(this.#bucket, object)
    if (etag === undefined) await assertStored(this.#bucket, { ...object, size })
    return etag ?? ''
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
