import {
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  type CreateMultipartUploadCommandOutput,
} from '@aws-sdk/client-s3'
import type { PutObject } from '../../core/objects/object-store.ts'
import type { Source } from '../consume-body.ts'
import { rejection, withDeadline } from '../deadline.ts'
import type { S3Bucket } from './bucket.ts'
import type { DirectRequest } from './client/client.ts'
import { headObject, META } from './get-object.ts'
import { CRC32_HEADER, crc32Of } from './parts/checksums.ts'
import { isMd5 } from './parts/etag.ts'
import type { PartBuffer } from './parts/part-buffer.ts'
import { DEFAULT_PART_SIZE } from '../../core/uploads/memory/part-size.ts'
import type { Part } from './parts/part-stream.ts'

export interface UploadSessionOptions extends Pick<PutObject, 'key' | 'metadata'> {
  /** Bytes. */
  readonly partSize: number
  /** Called with each part that the store has and nothing reads any more. */
  readonly onSent: (content: PartBuffer) => void
}

/** A multipart upload that the store has made. */
interface MultipartUpload {
  readonly uploadId: string
  /** Whether the store checks its parts by their CRC-32. */
  readonly hasChecksums: boolean
}

/** The calls that make one object, whole or in parts. Each has a deadline; after the first failure all of them reject. */
export class UploadSession {
  /** Whether the store may hold something of the object. */
  hasSent = false
  /** Whether the store may hold a second multipart upload, whose id got lost with the answer. */
  mayHaveStray = false
  readonly #bucket: S3Bucket
  readonly #options: UploadSessionOptions
  readonly #stop = new AbortController()
  #creation: Promise<unknown> | undefined

  constructor(bucket: S3Bucket, options: UploadSessionOptions) {
    this.#bucket = bucket
    this.#options = options
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
  async sendWhole(content: PartBuffer): Promise<boolean> {
    const { deadlines, direct } = this.#bucket
    const { key, metadata = {}, onSent } = this.#options
    const ms = Math.max(
      deadlines.callMs,
      (deadlines.putMs * content.byteLength) / DEFAULT_PART_SIZE,
    )
    const headers = { 'content-type': CONTENT_TYPE, ...metadataHeaders(metadata) }
    const body = content.pieces
    const etag = await this.#last(ms, async (signal) => {
      const answer = await direct.ask({ method: 'PUT', key, headers, body, signal })
      return answer['etag']
    })
    const isConfirmed = isMd5(etag, content)
    onSent(content)
    return isConfirmed
  }

  /** Sends the object in parts, at most `concurrency` at a time; the first to fail stops the others. */
  async sendInParts(parts: AsyncGenerator<Part, void>, concurrency: number): Promise<void> {
    const creation = this.#create()
    const sent: CompletedPart[] = []
    // A failure that leaves `for await` would wait for the part that the others wait for.
    const worker = async (): Promise<void> => {
      for (let next = await parts.next(); !next.done; next = await parts.next()) {
        sent.push(await this.#sendPart(await creation, next.value))
      }
    }
    await Promise.all([creation, ...Array.from({ length: concurrency }, worker)])
    await this.#complete(await creation, sent)
  }

  /**
   * Resolves once no call can make a multipart upload any more, or `signal` aborts. A creation is not cut when the upload
   * fails: the store could make it all the same, after its open uploads were listed.
   */
  async settled(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#creation, rejection(signal)]).catch(() => undefined)
  }

  async #create(): Promise<MultipartUpload> {
    const { client, name, deadlines, checksums } = this.#bucket
    const { key, metadata } = this.#options
    const input = {
      Bucket: name,
      Key: key,
      ContentType: CONTENT_TYPE,
      ...(metadata && { Metadata: { ...metadata } }),
    }
    const { signal } = new AbortController()
    this.#stop.signal.throwIfAborted()
    this.hasSent = true
    const creation = checksums.create(input, (asked) =>
      withDeadline({ ms: deadlines.callMs, signal }, (abortSignal) =>
        client.send(new CreateMultipartUploadCommand(asked), { abortSignal }),
      ),
    )
    this.#creation = creation
    const created = await creation
    this.mayHaveStray = (created.$metadata.attempts ?? 1) > 1
    return { uploadId: uploadIdOf(created), hasChecksums: created.ChecksumAlgorithm === 'CRC32' }
  }

  async #sendPart(upload: MultipartUpload, part: Part): Promise<CompletedPart> {
    const { direct, deadlines } = this.#bucket
    const { key, partSize, onSent } = this.#options
    const { partNumber, content } = part
    const query = { partNumber: `${partNumber}`, uploadId: upload.uploadId }
    const request = { method: 'PUT', key, query, ...bodyOf(content, upload) } as const
    const ms = deadlines.partMs * Math.max(1, partSize / DEFAULT_PART_SIZE)
    const answer = await this.#call(ms, (signal) => direct.ask({ ...request, signal }))
    onSent(content)
    return {
      PartNumber: partNumber,
      ETag: answer['etag'],
      ChecksumCRC32: request.headers[CRC32_HEADER],
    }
  }

  async #complete({ uploadId }: MultipartUpload, sent: readonly CompletedPart[]): Promise<void> {
    const { client, name, deadlines } = this.#bucket
    const Parts = sent.toSorted((a, b) => (a.PartNumber ?? 0) - (b.PartNumber ?? 0))
    const command = new CompleteMultipartUploadCommand({
      Bucket: name,
      Key: this.#options.key,
      UploadId: uploadId,
      MultipartUpload: { Parts },
    })
    await this.#last(deadlines.completeMs, async (abortSignal) => {
      const { ETag } = await client.send(command, { abortSignal })
      return ETag
    })
  }

  /**
   * The call that makes the object, which answers with its ETag: when it fails, the object can be there all the same, of
   * whatever size, and then this resolves with what is no ETag.
   */
  async #last(
    ms: number,
    call: (signal: AbortSignal) => Promise<string | undefined>,
  ): Promise<string> {
    const etag = await this.#call(ms, call).catch((error: unknown) => this.#findOrThrow(error))
    // An error after the status line can look like success to the SDK, but names no ETag.
    if (etag === undefined) throw new Error('The store confirmed the object without an ETag')
    return etag
  }

  async #findOrThrow(cause: unknown): Promise<string> {
    const { key } = this.#options
    const { signal } = this.#stop
    if (signal.aborted) throw cause
    const found = await headObject(this.#bucket, { key, signal }).catch(() => undefined)
    if (found === undefined) throw cause
    return 'lost'
  }

  #call<T>(ms: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.hasSent = true
    return withDeadline({ ms, signal: this.#stop.signal }, call)
  }
}

type PartBody = Required<Pick<DirectRequest, 'body' | 'hasChecksum'>> & {
  readonly headers: Record<string, string>
}

function bodyOf(content: PartBuffer, { hasChecksums }: MultipartUpload): PartBody {
  const body = content.pieces
  const headers: Record<string, string> = hasChecksums ? { [CRC32_HEADER]: crc32Of(body) } : {}
  return { body, hasChecksum: hasChecksums, headers }
}

function uploadIdOf({ UploadId }: CreateMultipartUploadCommandOutput): string {
  if (UploadId === undefined) throw new Error('The store made a multipart upload without an id')
  return UploadId
}

const CONTENT_TYPE = 'application/octet-stream'

function metadataHeaders(metadata: NonNullable<PutObject['metadata']>): Record<string, string> {
  const entries = Object.entries(metadata)
  return Object.fromEntries(entries.map(([name, text]) => [META + name, text]))
}
