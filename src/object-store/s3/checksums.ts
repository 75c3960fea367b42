import { crc32 } from 'node:zlib'
import {
  type CreateMultipartUploadCommandInput,
  type CreateMultipartUploadCommandOutput,
  S3ServiceException,
} from '@aws-sdk/client-s3'

export const CRC32_HEADER = 'x-amz-checksum-crc32'

/** What S3 calls the CRC-32 of a part: four bytes in base64 ("Checking object integrity" in the guide of S3). */
export function crc32Of(pieces: readonly Uint8Array[]): string {
  const sum = pieces.reduce((before, piece) => crc32(piece, before), 0)
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(sum)
  return bytes.toString('base64')
}

export interface PartChecksumsOptions {
  /** Told of refusals to check parts, which fail no upload. */
  readonly warn?: ((err: unknown, message: string) => void) | undefined
}

/**
 * Asks a store to check parts by their CRC-32, which costs a fifth of what it takes to sign them by their SHA-256. Stores
 * that know nothing of it ignore the request or refuse it; they get signed parts. One that says that it cannot do so is
 * asked again after 10 minutes; any other refusal, such as that of a proxy, is that of one upload.
 */
export class PartChecksums {
  readonly #warn: NonNullable<PartChecksumsOptions['warn']>
  /** Before that the store is not asked, by `performance.now`. */
  #askAgainAt = 0

  constructor({ warn = () => undefined }: PartChecksumsOptions = {}) {
    this.#warn = warn
  }

  /** Creates an upload by way of `send`. Its parts are to have checksums if the answer names the algorithm. */
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
      // Where the same request is accepted without the checksums, the refusal was of these, or of a moment.
      const created = await send(input)
      const isUnsupported = status === 501 || UNSUPPORTED.has(error.name)
      if (isUnsupported) this.#askAgainAt = performance.now() + ASK_AGAIN_MS
      this.#warn(error, isUnsupported ? NOT_CHECKED : REFUSED_ONCE)
      return created
    }
  }
}

const ASK_AGAIN_MS = 10 * 60_000

/** What stores answer to a header or a value that they do not implement ("Error responses" in the reference of S3). */
const UNSUPPORTED: ReadonlySet<string> = new Set([
  'NotImplemented',
  'InvalidRequest',
  'InvalidArgument',
])

const NOT_CHECKED = 'the object store does not check parts by their CRC-32; asks again in 10 min'
const REFUSED_ONCE = 'the object store refused once to check parts by their CRC-32'
