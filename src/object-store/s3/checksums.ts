import { crc32 } from 'node:zlib'
import {
  type CreateMultipartUploadCommandInput,
  type CreateMultipartUploadCommandOutput,
  S3ServiceException,
} from '@aws-sdk/client-s3'

export const CRC32_HEADER = 'x-amz-checksum-crc32'

/** Base64 of the big-endian CRC-32 ("Checking object integrity" in the S3 guide). */
export function crc32Of(chunks: readonly Uint8Array[]): string {
  const sum = chunks.reduce((before, chunk) => crc32(chunk, before), 0)
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(sum)
  return bytes.toString('base64')
}

export interface PartChecksumsOptions {
  /** Called when a store refuses checksums. The upload continues without them. */
  readonly warn?: ((err: unknown, message: string) => void) | undefined
}

/** CRC-32 costs a fifth of signing SHA-256. Stores without it get signed parts and are asked again after 10 min. */
export class PartChecksums {
  readonly #warn: NonNullable<PartChecksumsOptions['warn']>
  #askAgainAt = 0

  constructor({ warn = () => undefined }: PartChecksumsOptions = {}) {
    this.#warn = warn
  }

  /** Creates an upload. Its parts need checksums only if the answer names the algorithm. */
  async create(
    input: CreateMultipartUploadCommandInput,
    send: (input: CreateMultipartUploadCommandInput) => Promise<CreateMultipartUploadCommandOutput>,
  ): Promise<CreateMultipartUploadCommandOutput> {
    if (performance.now() < this.#askAgainAt) return await send(input)
    try {
      return await send({ ...input, ChecksumAlgorithm: 'CRC32' })
    } catch (error) {
      if (!(error instanceof S3ServiceException)) throw error
      const { httpStatusCode: status } = error.$metadata
      if (status !== 400 && status !== 501) throw error
      // If this succeeds, the checksums or a transient fault caused the refusal.
      const created = await send(input)
      const isUnsupported = status === 501 || UNSUPPORTED.has(error.name)
      if (isUnsupported) this.#askAgainAt = performance.now() + ASK_AGAIN_MS
      this.#warn(error, isUnsupported ? NOT_CHECKED : REFUSED_ONCE)
      return created
    }
  }
}

const ASK_AGAIN_MS = 10 * 60_000

/** Error codes for an unsupported header or value ("Error responses" in the S3 API reference). */
const UNSUPPORTED: ReadonlySet<string> = new Set([
  'NotImplemented',
  'InvalidRequest',
  'InvalidArgument',
])

const NOT_CHECKED = 'object store does not support CRC-32 checksums of parts; retrying in 10 min'
const REFUSED_ONCE = 'object store refused the CRC-32 checksums of one upload'
