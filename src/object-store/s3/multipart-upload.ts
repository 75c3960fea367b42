import { CompleteMultipartUploadCommand, CreateMultipartUploadCommand } from '@aws-sdk/client-s3'
import { settledUnlessAborted, withDeadline } from '../../core/async/deadline.ts'
import type { PutObject } from '../../core/objects/object-store.ts'
import type { NamedObject } from '../../core/objects/object-key.ts'
import type { S3Bucket } from './bucket.ts'
import { CRC32_HEADER, crc32Of } from './checksums.ts'
import { DEFAULT_PART_SIZE } from './part-size.ts'
import { type Part } from './parts.ts'
import { callOrFind, CONTENT_TYPE } from './put-content.ts'

/** A multipart upload that the store has created. */
export interface OpenMultipart {
  readonly uploadId: string
  /** Whether the store checks parts by their CRC-32. */
  readonly hasChecksums: boolean
}

/** A part that the store has confirmed. */
export interface StoredPart {
  readonly partNumber: number
  readonly etag: string
  readonly crc32: string | undefined
}

export interface SentPart extends StoredPart {
  readonly byteLength: number
}

export interface MultipartOptions extends Pick<PutObject, 'key' | 'metadata' | 'signal'> {
  /** In bytes. */
  readonly partSize: number
  readonly concurrency: number
  /** The upload to go on with; created with the first part if omitted. */
  readonly open?: OpenMultipart | undefined
  /** Called before the first part is sent to an upload that was created. */
  readonly onCreated?: (upload: OpenMultipart) => void
  /** Called for each part that the store has confirmed. */
  readonly onSent: (part: SentPart, upload: OpenMultipart) => void
}

export class MultipartUpload {
  /** A retried creation may have left a second upload, whose id was lost with the answer. */
  mayHaveStray = false
  readonly #bucket: S3Bucket
  readonly #options: MultipartOptions
  #ended: Promise<unknown> = Promise.resolve()

  constructor(bucket: S3Bucket, options: MultipartOptions) {
    this.#bucket = bucket
    this.#options = options
  }

  /** Sends parts concurrently. After a failure the caller ends `rest`, and waits for the others or aborts the signal. */
  async send(first: Part, rest: AsyncGenerator<Part, void>): Promise<OpenMultipart> {
    const { open, concurrency } = this.#options
    const creation = open === undefined ? this.#create() : Promise.resolve(open)
    // Not `for await`: leaving it on failure would wait for the part that the other workers wait for.
    const worker = async (part: Part | undefined): Promise<void> => {
      if (part !== undefined) await this.#sendPart(await creation, part)
      for (let next = await rest.next(); !next.done; next = await rest.next()) {
        await this.#sendPart(await creation, next.value)
      }
    }
    const workers = [worker(first)]
    for (let n = 1; n < concurrency; n += 1) workers.push(worker(undefined))
    this.#ended = Promise.allSettled([creation, ...workers])
    const [upload] = await Promise.all([creation, ...workers])
    return upload
  }

  /**
   * Waits for the creation, which is never aborted, and for the parts in flight. The store could finish them after the
   * upload was aborted: MinIO and versitygw then keep a part that is listed nowhere.
   */
  async settled(signal: AbortSignal): Promise<void> {
    await settledUnlessAborted(this.#ended, signal).catch(() => undefined)
  }

  async #create(): Promise<OpenMultipart> {
    const { client, name, deadlines, checksums } = this.#bucket
    const { key, metadata, onCreated } = this.#options
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
    const created = { uploadId: UploadId, hasChecksums: ChecksumAlgorithm === 'CRC32' }
    onCreated?.(created)
    return created
  }

  async #sendPart(upload: OpenMultipart, part: Part): Promise<void> {
    const { direct, deadlines } = this.#bucket
    const { key, partSize, signal, onSent } = this.#options
    const { uploadId, hasChecksums } = upload
    const { partNumber, content: body } = part
    const query = { partNumber: `${partNumber}`, uploadId }
    const crc32 = hasChecksums ? crc32Of(body.chunks) : undefined
    const headers: Record<string, string> = crc32 === undefined ? {} : { [CRC32_HEADER]: crc32 }
    const request = { method: 'PUT', key, query, headers, body, hasChecksum: hasChecksums } as const
    const ms = deadlines.partMs * Math.max(1, partSize / DEFAULT_PART_SIZE)
    const answer = await withDeadline({ ms, signal }, (signal) =>
      direct.send({ ...request, signal }),
    )
    const { byteLength } = body
    body.giveBack()
    const { etag } = answer.headers
    if (etag === undefined) throw new Error('The store confirmed a part without an ETag')
    onSent({ partNumber, byteLength, etag, crc32 }, upload)
  }
}

export interface CompleteMultipart extends NamedObject, Pick<OpenMultipart, 'uploadId'> {
  /** All parts of the upload, in any order. */
  readonly parts: readonly StoredPart[]
}

/** Makes the object. Resolves and rejects as `callOrFind`. */
export function completeMultipart(
  bucket: S3Bucket,
  { key, signal, uploadId, parts }: CompleteMultipart,
): Promise<string | undefined> {
  const inOrder = parts.toSorted((a, b) => a.partNumber - b.partNumber)
  const command = new CompleteMultipartUploadCommand({
    Bucket: bucket.name,
    Key: key,
    UploadId: uploadId,
    MultipartUpload: {
      Parts: inOrder.map(({ partNumber, etag, crc32 }) => ({
        PartNumber: partNumber,
        ETag: etag,
        ChecksumCRC32: crc32,
      })),
    },
  })
  const ms = bucket.deadlines.completeMs
  return callOrFind(
    bucket,
    { key, signal },
    {
      ms,
      call: async (abortSignal) => (await bucket.client.send(command, { abortSignal })).ETag,
    },
  )
}
