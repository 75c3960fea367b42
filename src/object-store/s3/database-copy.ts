import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import {
  Deadline,
  settledUnlessAborted,
  settledWithin,
  timeoutError,
  timeoutSignal,
} from '../../core/async/deadline.ts'
import { AppError, isAppError } from '../../core/errors.ts'
import { storeError } from '../store-error.ts'
import { callS3, DEFAULT_DEADLINES, hasName, isMissing } from './bucket.ts'
import type { UploadBucket } from './delete-object.ts'
import { partSizeFor } from './part-size.ts'
import { createS3Client, type S3ClientOptions } from './sdk-client.ts'

export interface CopyProgress {
  /** In bytes, like `total`. */
  readonly moved: number
  readonly total: number
}

export interface CopyDatabase {
  readonly client: S3ClientOptions
  readonly bucket: string
  readonly key: string
  readonly file: string
  /** Called whenever more bytes have moved. */
  readonly onProgress: (progress: CopyProgress) => void
  readonly signal: AbortSignal
}

/** Parts in flight; an interrupted upload waits for them. */
const CONCURRENCY = 4

/** Maximum time without progress: an 8 MiB part, one of four, takes 100 s at 336 kB/s. */
const STALL_MS = 120_000

/** Time for a failed upload to end before its leftovers are removed. */
const END_MS = 10_000

const CLEANUP_MS = 30_000

/** Stores `file` whole under a free key, else `file_exists`. After a failure it removes what it sent. */
export async function uploadCopy(copy: CopyDatabase): Promise<{ readonly bytes: number }> {
  const { bucket: name, key, file, onProgress } = copy
  const { size: bytes } = await stat(file)
  return await withClient(copy, async (client, { signal, moved }) => {
    const bucket = { client, name, deadlines: DEFAULT_DEADLINES }
    if ((await findObject(client, copy)) !== undefined) throw fileExists(copy)
    const metadata = { [DIGEST]: await digestOf(file), [OWNER]: randomUUID() }
    // A failing body ends the upload once its parts have settled; `abort` would leave them running.
    const Body = createReadStream(file, { signal })
    const upload = new Upload({
      client,
      params: {
        Bucket: name,
        Key: key,
        Body,
        ContentType: 'application/vnd.sqlite3',
        Metadata: metadata,
        IfNoneMatch: '*',
      },
      partSize: partSizeFor(bytes),
      queueSize: CONCURRENCY,
    })
    upload.on('httpUploadProgress', ({ loaded = 0 }) => {
      moved()
      onProgress({ moved: loaded, total: bytes })
    })
    const done = upload.done()
    try {
      await settledUnlessAborted(done, signal)
      const stored = (await findObject(client, copy))?.ContentLength
      if (stored === bytes) return { bytes }
      throw new Error(`${bytes} bytes were sent, but the store reports ${stored}`)
    } catch (error) {
      await settledWithin(
        END_MS,
        done.catch(() => undefined),
      )
      const sent = { uploadId: upload.uploadId, owner: metadata[OWNER] }
      await removeSent(bucket, copy, sent).catch((cause: unknown) => {
        const left = `Part of the copy may remain at s3://${name}/${key}.`
        throw hasName(cause, 'NoSuchBucket') ? error : new AppError('unavailable', left, { cause })
      })
      throw hasName(error, 'PreconditionFailed') ? fileExists(copy) : error
    }
  })
}

/** Names in an object's metadata: the SHA-256 of its content, and the run that sent it. */
const DIGEST = 'sha256'
const OWNER = 'sent-by'

function fileExists({ bucket, key }: CopyDatabase): AppError {
  return new AppError('file_exists', `s3://${bucket}/${key} already exists.`)
}

/** Removes only what this run has sent: another run may have stored its copy under the key. */
async function removeSent(
  bucket: UploadBucket,
  copy: CopyDatabase,
  { uploadId: UploadId, owner }: { readonly uploadId: string | undefined; readonly owner: string },
): Promise<void> {
  const signal = timeoutSignal(CLEANUP_MS)
  const object = { Bucket: copy.bucket, Key: copy.key }
  if (UploadId !== undefined) {
    const command = new AbortMultipartUploadCommand({ ...object, UploadId })
    await callS3(bucket, { command, signal }).catch((error: unknown) => {
      if (!hasName(error, 'NoSuchUpload')) throw error
    })
  }
  const found = await findObject(bucket.client, { ...copy, signal })
  if (found?.Metadata?.[OWNER] !== owner) return
  await callS3(bucket, { command: new DeleteObjectCommand(object), signal })
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

/** Resolves once `file` holds the whole object, with the digest that it was sent with, if any; not yet fsynced. */
export async function downloadCopy(copy: CopyDatabase): Promise<void> {
  const { bucket: Bucket, key: Key, file, onProgress } = copy
  await withClient(copy, async (client, { signal, moved }) => {
    const command = new GetObjectCommand({ Bucket, Key })
    const answer = await client.send(command, { abortSignal: signal })
    const { Body, ContentLength: total, Metadata } = answer
    if (!(Body instanceof Readable) || total === undefined) {
      throw new Error('The response has no content or no length')
    }
    let received = 0
    const hash = createHash('sha256')
    async function* measured(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
      for await (const chunk of chunks) {
        received += chunk.byteLength
        hash.update(chunk)
        moved()
        onProgress({ moved: received, total: total ?? received })
        yield chunk
      }
    }
    await pipeline(Body, measured, createWriteStream(file), { signal })
    if (received !== total) throw new Error(`only ${received} of ${total} bytes arrived`)
    const stated = Metadata?.[DIGEST]
    if (stated !== undefined && stated !== hash.digest('hex')) {
      throw new AppError(
        'digest_mismatch',
        'The copy is damaged: its SHA-256 does not match the one stored with it.',
      )
    }
  })
}

interface Watch {
  readonly signal: AbortSignal
  readonly moved: () => void
}

async function withClient<T>(
  copy: CopyDatabase,
  work: (client: S3Client, watch: Watch) => Promise<T>,
): Promise<T> {
  const client = createS3Client(copy.client)
  const stalled = new AbortController()
  const silence = new Deadline(STALL_MS, () => stalled.abort(timeoutError(STALL_MS)))
  const signal = AbortSignal.any([copy.signal, stalled.signal])
  try {
    copy.signal.throwIfAborted()
    return await work(client, { signal, moved: () => silence.refresh() })
  } catch (error) {
    throw copy.signal.aborted && !isAppError(error) ? copy.signal.reason : explained(error, copy)
  } finally {
    silence.clear()
    client.destroy()
  }
}

async function findObject(
  client: S3Client,
  { bucket: Bucket, key: Key, signal }: CopyDatabase,
): Promise<HeadObjectCommandOutput | undefined> {
  const command = new HeadObjectCommand({ Bucket, Key })
  try {
    return await callS3({ client, deadlines: DEFAULT_DEADLINES }, { command, signal })
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function explained(error: unknown, { bucket, key }: CopyDatabase): unknown {
  if (isAppError(error)) return error
  if (hasName(error, 'NoSuchKey')) {
    return new AppError('not_found', `s3://${bucket}/${key} does not exist.`)
  }
  if (hasName(error, 'NoSuchBucket')) {
    return new AppError('not_found', `The bucket ${bucket} does not exist.`)
  }
  return storeError(error)
}
