import {
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
} from '@aws-sdk/client-s3'
import { settledUnlessAborted, withDeadline } from '../../core/async/deadline.ts'
import type { PutObject } from '../../core/objects/object-store.ts'
import type { S3Bucket } from './bucket.ts'
import { CRC32_HEADER, crc32Of } from './checksums.ts'
import { DEFAULT_PART_SIZE } from '../../core/uploads/memory/budget.ts'
import { type Part } from './parts.ts'

export const CONTENT_TYPE = 'application/octet-stream'

export interface MultipartOptions extends Pick<PutObject, 'key' | 'metadata' | 'signal'> {
  /** In bytes. */
  readonly partSize: number
  readonly concurrency: number
}

export class MultipartUpload {
  /** A retried creation may have left a second upload, whose id was lost with the answer. */
  mayHaveStray = false
  sentBytes = 0
  readonly #bucket: S3Bucket
  readonly #options: MultipartOptions
  readonly #sent: CompletedPart[] = []
  #creation: Promise<CreatedUpload> | undefined

  constructor(bucket: S3Bucket, options: MultipartOptions) {
    this.#bucket = bucket
    this.#options = options
  }

  /** Sends parts concurrently. After a failure the caller aborts the signal, which stops the others. */
  async send(first: Part, rest: AsyncGenerator<Part, void>): Promise<void> {
    const creation = this.#create()
    this.#creation = creation
    // Not `for await`: leaving it on failure would wait for the part that the other workers wait for.
    const worker = async (part: Part | undefined): Promise<void> => {
      if (part !== undefined) await this.#sendPart(await creation, part)
      for (let next = await rest.next(); !next.done; next = await rest.next()) {
        await this.#sendPart(await creation, next.value)
      }
    }
    const others = Array.from({ length: this.#options.concurrency - 1 }, () => worker(undefined))
    await Promise.all([creation, worker(first), ...others])
  }

  async complete(abortSignal: AbortSignal): Promise<string | undefined> {
    const { client, name } = this.#bucket
    const Parts = this.#sent.toSorted((a, b) => (a.PartNumber ?? 0) - (b.PartNumber ?? 0))
    const command = new CompleteMultipartUploadCommand({
      Bucket: name,
      Key: this.#options.key,
      UploadId: (await this.#creation)?.uploadId,
      MultipartUpload: { Parts },
    })
    const { ETag } = await client.send(command, { abortSignal })
    return ETag
  }

  /** Waits for the creation, which is never aborted: the store could finish it after the open uploads were listed. */
  async settled(signal: AbortSignal): Promise<void> {
    const creation = this.#creation ?? Promise.resolve()
    await settledUnlessAborted<unknown>(creation, signal).catch(() => undefined)
  }

  async #create(): Promise<CreatedUpload> {
    const { client, name, deadlines, checksums } = this.#bucket
    const { key, metadata } = this.#options
    const input = {
      Bucket: name,
      Key: key,
      ContentType: CONTENT_TYPE,
      ...(metadata && { Metadata: { ...metadata } }),
    }
    const { signal } = new AbortController()
    const { UploadId, ChecksumAlgorithm, $metadata } = await checksums.create(input, (asked) =>
      withDeadline({ ms: deadlines.callMs, signal }, (abortSignal) =>
        client.send(new CreateMultipartUploadCommand(asked), { abortSignal }),
      ),
    )
    this.mayHaveStray = ($metadata.attempts ?? 1) > 1
    if (UploadId === undefined) throw new Error('The store returned no multipart upload id')
    return { uploadId: UploadId, hasChecksums: ChecksumAlgorithm === 'CRC32' }
  }

  async #sendPart({ uploadId, hasChecksums }: CreatedUpload, part: Part): Promise<void> {
    const { direct, deadlines } = this.#bucket
    const { key, partSize, signal } = this.#options
    const { partNumber, content: body } = part
    const query = { partNumber: `${partNumber}`, uploadId }
    const headers: Record<string, string> = hasChecksums
      ? { [CRC32_HEADER]: crc32Of(body.chunks) }
      : {}
    const request = { method: 'PUT', key, query, headers, body, hasChecksum: hasChecksums } as const
    const ms = deadlines.partMs * Math.max(1, partSize / DEFAULT_PART_SIZE)
    const answer = await withDeadline({ ms, signal }, (signal) =>
      direct.send({ ...request, signal }),
    )
    this.sentBytes += body.byteLength
    body.giveBack()
    this.#sent.push({
      PartNumber: partNumber,
      ETag: answer.headers['etag'],
      ChecksumCRC32: headers[CRC32_HEADER],
    })
  }
}

interface CreatedUpload {
  readonly uploadId: string
  readonly hasChecksums: boolean
}
