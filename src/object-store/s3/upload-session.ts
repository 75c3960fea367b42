import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type { PutObject } from '../../core/objects/object-store.ts'
import { rejection, withDeadline } from '../deadline.ts'
import { CRC32_HEADER, crc32Of } from './parts/checksums.ts'
import { isMd5 } from './parts/etag.ts'
import { PartContent } from './parts/part-buffer.ts'
import type { Source } from '../consume-body.ts'
import { DEFAULT_PART_SIZE } from './parts/part-size.ts'
import type { S3Bucket } from './bucket.ts'
import type { DirectRequest } from './client/client.ts'
import { headObject, META } from './get-object.ts'

interface Sending extends Pick<PutObject, 'key' | 'metadata'> {
  /** Bytes. */
  readonly partSize: number
  /** Called with each part that the store has and nothing reads any more. */
  readonly onSent: (part: PartContent) => void
}

/**
 * Sends one object, whole or in parts. For the parts it is the client of lib-storage's `Upload`, which by itself waits
 * for ever and goes on after a failure.
 */
export class S3Sender {
  /** Its every call has a deadline. */
  readonly client: S3Client
  /** Whether the store may hold something of the object. */
  hasSent = false
  /** Whether the store may hold a second multipart upload, whose id got lost with the answer. */
  mayHaveStray = false
  readonly #bucket: S3Bucket
  readonly #sending: Sending
  readonly #stop = new AbortController()
  /** Whether the store checks the parts of the upload by their CRC-32. */
  #hasChecksums = false

  constructor(bucket: S3Bucket, sending: Sending) {
    this.#bucket = bucket
    this.#sending = sending
    const send = (command: unknown) => this.#send(command)
    this.client = new Proxy(bucket.client, {
      get: (client, property): unknown =>
        property === 'send' ? send : Reflect.get(client, property, client),
    })
  }

  /**
   * Settles as `upload` does, but rejects at once when the first call fails or the source's signal aborts. From then on
   * each call, running or new, rejects.
   */
  async run<T>({ signal }: Source, upload: () => Promise<T>): Promise<T> {
    const relay = () => this.#stop.abort(signal.reason)
    signal.addEventListener('abort', relay)
    try {
      if (signal.aborted) relay()
      return await Promise.race([upload(), rejection(this.#stop.signal)])
    } catch (error) {
      // The upload can also fail by itself, with parts under way.
      this.#stop.abort(error)
      throw error
    } finally {
      signal.removeEventListener('abort', relay)
    }
  }

  /** Sends the object as one piece. Says whether the store has confirmed that it holds these very bytes. */
  async sendWhole(content: PartContent): Promise<boolean> {
    const { deadlines, direct } = this.#bucket
    const { key, metadata = {}, onSent } = this.#sending
    const ms = Math.max(
      deadlines.callMs,
      (deadlines.putMs * content.byteLength) / DEFAULT_PART_SIZE,
    )
    const headers = { 'content-type': CONTENT_TYPE, ...metadataHeaders(metadata) }
    const body = content.pieces
    const { ETag } = await this.#last(ms, async (signal) => {
      const answer = await direct.ask({ method: 'PUT', key, headers, body, signal })
      return { ETag: answer['etag'] }
    })
    const isConfirmed = isMd5(ETag, content)
    onSent(content)
    return isConfirmed
  }

  async #send(command: unknown): Promise<unknown> {
    try {
      return await this.#dispatch(command)
    } catch (error) {
      this.#stop.abort(error)
      throw error
    }
  }

  #dispatch(command: unknown): Promise<unknown> {
    const { client, deadlines } = this.#bucket
    if (command instanceof CreateMultipartUploadCommand) return this.#create(command)
    if (command instanceof UploadPartCommand) return this.#sendPart(command)
    if (command instanceof CompleteMultipartUploadCommand) {
      return this.#last(deadlines.completeMs, (abortSignal) =>
        client.send(command, { abortSignal }),
      )
    }
    throw new TypeError('An upload sends no other command')
  }

  async #sendPart({ input }: UploadPartCommand): Promise<SentPart> {
    const { direct, deadlines } = this.#bucket
    const { key, partSize, onSent } = this.#sending
    const part: unknown = input.Body
    if (!(part instanceof PartContent)) throw new TypeError('An upload sends what was gathered')
    // Whoever waits for the next part still holds the command.
    delete input.Body
    const query = { partNumber: `${input.PartNumber}`, uploadId: input.UploadId ?? '' }
    const request = { method: 'PUT', key, query, ...this.#bodyOf(part) } as const
    const ms = deadlines.partMs * Math.max(1, partSize / DEFAULT_PART_SIZE)
    const answer = await this.#call(ms, (signal) => direct.ask({ ...request, signal }))
    onSent(part)
    const sum = request.headers[CRC32_HEADER]
    return { ETag: answer['etag'], ...(sum !== undefined && { ChecksumCRC32: sum }) }
  }

  #bodyOf(part: PartContent): Required<Pick<DirectRequest, 'body' | 'hasChecksum'>> & Headed {
    const body = part.pieces
    const hasChecksum = this.#hasChecksums
    return { body, hasChecksum, headers: hasChecksum ? { [CRC32_HEADER]: crc32Of(body) } : {} }
  }

  async #create({ input }: CreateMultipartUploadCommand): Promise<unknown> {
    const { client, deadlines, checksums } = this.#bucket
    const created = await checksums.create(input, (asked) =>
      this.#call(deadlines.callMs, (abortSignal) =>
        client.send(new CreateMultipartUploadCommand(asked), { abortSignal }),
      ),
    )
    this.mayHaveStray = (created.$metadata.attempts ?? 1) > 1
    this.#hasChecksums = created.ChecksumAlgorithm === 'CRC32'
    return created
  }

  /** The call that makes the object: when it fails, the object can be there all the same, of whatever size. */
  async #last<T extends { ETag?: string | undefined }>(
    ms: number,
    call: (signal: AbortSignal) => Promise<T>,
  ): Promise<{ ETag: string }> {
    const answer = await this.#call(ms, call).catch((error: unknown) => this.#findOrThrow(error))
    const { ETag } = answer
    // An error after the status line can look like success to the SDK, but names no ETag.
    if (ETag === undefined) throw new Error('The store confirmed the object without an ETag')
    return { ...answer, ETag }
  }

  async #findOrThrow(cause: unknown): Promise<{ ETag: string }> {
    const { key } = this.#sending
    const { signal } = this.#stop
    if (signal.aborted) throw cause
    const found = await headObject(this.#bucket, { key, signal }).catch(() => undefined)
    if (found === undefined) throw cause
    return { ETag: 'lost' }
  }

  #call<T>(ms: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.hasSent = true
    return withDeadline({ ms, signal: this.#stop.signal }, call)
  }
}

interface Headed {
  readonly headers: Record<string, string>
}

/** As lib-storage wants it, to name the parts when it completes the upload. */
interface SentPart {
  readonly ETag: string | undefined
  readonly ChecksumCRC32?: string
}

export const CONTENT_TYPE = 'application/octet-stream'

function metadataHeaders(metadata: NonNullable<PutObject['metadata']>): Record<string, string> {
  const entries = Object.entries(metadata)
  return Object.fromEntries(entries.map(([name, text]) => [META + name, text]))
}
