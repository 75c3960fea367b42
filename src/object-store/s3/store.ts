import { CreateBucketCommand, ListObjectsV2Command } from '@aws-sdk/client-s3'
import { isObjectKey } from '../../core/objects/object-key.ts'
import type { ListedObject, ListObjects, ObjectStore } from '../../core/objects/object-store.ts'
import { isAppError } from '../../core/errors.ts'
import { BufferPool } from '../buffer-pool.ts'
import { appendObject } from './append/append-object.ts'
import { areStored } from './append/find-pieces.ts'
import { finishObject } from './append/finish-object.ts'
import { isFenceable, planAppend, parseObjectState } from './append/store-state.ts'
import {
  callS3,
  DEFAULT_DEADLINES,
  findBucket,
  hasName,
  type S3Bucket,
  type S3Deadlines,
} from './bucket.ts'
import { PartChecksums, type PartChecksumsOptions } from './checksums.ts'
import { DirectS3 } from './client.ts'
import { removeObject, abortUpload } from './delete-object.ts'
import { headObject, openObject } from './get-object.ts'
import { createIdentity, readIdentity } from './identity.ts'
import { DEFAULT_PART_SIZE, partSizeFor } from './part-size.ts'
import { createS3Client, type S3ClientOptions } from './sdk-client.ts'
import { createS3Transport, type S3Transport } from './transport.ts'
import { uploadObject, type UploadOptions } from './put-object.ts'
import { storeError, translated } from '../store-error.ts'
import type { FencedAppend } from '../../core/objects/append-store.ts'

const READER_SOCKETS = 1000

export interface S3StoreOptions
  extends S3ClientOptions, Partial<UploadOptions>, PartChecksumsOptions {
  readonly bucket: string
  readonly deadlines?: Partial<S3Deadlines>
}

/** Sole writer of `users/`. Needs to put, get, delete and list objects and multipart uploads, and create the bucket. */
export function createS3Store(options: S3StoreOptions): ObjectStore {
  const { bucket: name, partSize = DEFAULT_PART_SIZE, queueSize = 4, maxFileSize = 0 } = options
  const deadlines = { ...DEFAULT_DEADLINES, ...options.deadlines }
  const { connectionMs, requestHandler, maxAttempts, warn } = options
  const client = createS3Client(options)
  const checksums = new PartChecksums({ warn })
  const clock = { skewMs: 0 }
  const transports: S3Transport[] = []
  const connect = (maxSockets: number | undefined): S3Bucket => {
    const transport = createS3Transport({ maxSockets, connectionMs, requestHandler })
    transports.push(transport)
    const direct = new DirectS3({ client, bucket: name, maxAttempts, clock, transport })
    return { client, direct, checksums, name, deadlines }
  }
  const bucket = connect(options.maxSockets)
  // Separate sockets, so that slow readers do not block other requests.
  const readers = connect(options.maxSockets ?? READER_SOCKETS)
  const pool = new BufferPool()
  const sizes = { partSize, queueSize, maxFileSize }
  return {
    hasTails: true,
    planAppend,
    isFenceable,
    put: (object) => uploadObject(bucket, { object, options: sizes, pool }),
    partSizeFor: (length) => partSizeFor(length ?? maxFileSize, partSize),
    append: (append) => appendObject(bucket, { append, concurrency: queueSize, pool }),
    removeFenced: (append) => translated(removeFenced(bucket, append)),
    finish: (upload) => finishObject(bucket, upload),
    isStored: (upload) => areStored(bucket, upload),
    open: (object) => openObject(readers, object),
    head: (object) => headObject(bucket, object),
    remove: (object) => translated(removeObject(bucket, object)),
    list: (page) => listObjects(bucket, page),
    prepare: (signal) => prepareBucket(bucket, signal),
    readIdentity: (signal) => readIdentity(readers, signal),
    createIdentity: (identity, signal) => createIdentity(bucket, { identity, signal }),
    check: (signal) => findBucket(bucket, signal),
    async close() {
      client.destroy()
      for (const transport of transports) transport.destroy?.()
    },
  }
}

async function* listObjects(
  bucket: S3Bucket,
  { prefix: Prefix, signal }: ListObjects,
): AsyncGenerator<ListedObject, void> {
  let token: string | undefined
  do {
    const page = { Bucket: bucket.name, Prefix, ContinuationToken: token }
    const command: ListObjectsV2Command = new ListObjectsV2Command(page)
    const listed = await translated(callS3(bucket, { command, signal }))
    for (const { Key = '', Size } of listed.Contents ?? []) {
      if (isObjectKey(Key) && Size !== undefined) yield { key: Key, size: Size }
    }
    token = listed.NextContinuationToken
    if (listed.IsTruncated === true && token === undefined)
      throw storeError(new Error('List cut off'))
  } while (token !== undefined)
}

async function prepareBucket(bucket: S3Bucket, signal: AbortSignal): Promise<void> {
  try {
    await findBucket(bucket, signal)
  } catch (error) {
    if (!isAppError(error) || !hasName(error.cause, 'NotFound')) throw error
    await createBucket(bucket, signal)
  }
}

async function createBucket(bucket: S3Bucket, signal: AbortSignal): Promise<void> {
  const command = new CreateBucketCommand({ Bucket: bucket.name })
  try {
    await callS3(bucket, { command, signal })
  } catch (error) {
    // Another instance created it first, or this is the SDK's retry after a lost answer.
    if (!hasName(error, 'BucketAlreadyOwnedByYou', 'BucketAlreadyExists')) throw storeError(error)
    await findBucket(bucket, signal)
  }
}

/** Implements the port's `removeFenced`: aborts the multipart upload that only this append knows. */
async function removeFenced(
  bucket: S3Bucket,
  { key, signal, storeState, recorded = '{}' }: FencedAppend,
): Promise<void> {
  const uploadId = parseObjectState(storeState).multipart?.uploadId
  if (uploadId === undefined || uploadId === parseObjectState(recorded).multipart?.uploadId) return
  await abortUpload(bucket, { key, signal, uploadId })
}
