import { CreateBucketCommand, ListObjectsV2Command } from '@aws-sdk/client-s3'
import { isObjectKey } from '../../core/objects/object-key.ts'
import type {
  ListedObject,
  ListObjects,
  NamedObject,
  ObjectHead,
  ObjectStore,
  OpenedObject,
  OpenObject,
  PutObject,
} from '../../core/objects/object-store.ts'
import { isAppError } from '../../core/errors.ts'
import { BufferPool } from '../buffer-pool.ts'
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
import { removeObject } from './delete-object.ts'
import { headObject, openObject } from './get-object.ts'
import { DEFAULT_PART_SIZE } from '../../core/uploads/memory/budget.ts'
import { createS3Client, type S3ClientOptions } from './sdk-client.ts'
import { createS3Transport, type S3Transport } from './transport.ts'
import { uploadObject, type UploadOptions } from './put-object.ts'
import { storeError, translated } from '../store-error.ts'

const READER_SOCKETS = 1000

export interface S3StoreOptions
  extends S3ClientOptions, Partial<UploadOptions>, PartChecksumsOptions {
  readonly bucket: string
  readonly deadlines?: Partial<S3Deadlines>
}

/** Sole writer of `users/`. Needs to put, get, delete and list objects and multipart uploads, and create the bucket. */
export function createS3Store(options: S3StoreOptions): ObjectStore {
  return new S3Store(options)
}

class S3Store implements ObjectStore {
  readonly #bucket: S3Bucket
  /** Separate sockets, so that slow readers do not block other requests. */
  readonly #readers: S3Bucket
  readonly #transports: S3Transport[] = []
  readonly #uploads: UploadOptions
  readonly #pool = new BufferPool()

  constructor(options: S3StoreOptions) {
    const { bucket: name, partSize = DEFAULT_PART_SIZE, queueSize = 4, maxFileSize = 0 } = options
    const deadlines = { ...DEFAULT_DEADLINES, ...options.deadlines }
    const client = createS3Client(options)
    const common = { client, checksums: new PartChecksums(options), name, deadlines }
    const clock = { skewMs: 0 }
    const connect = (maxSockets: number | undefined): Pick<S3Bucket, 'direct' | 'unkept'> => {
      const kept = createS3Transport({ ...options, maxSockets })
      const unkept = createS3Transport({ ...options, maxSockets, keepAlive: false })
      this.#transports.push(kept, unkept)
      const through = { client, bucket: name, maxAttempts: options.maxAttempts, clock }
      return {
        // A node without write quorum keeps refusing on its kept connections; a new one can reach another node.
        direct: new DirectS3({ ...through, transport: kept, retryTransport: unkept }),
        unkept: new DirectS3({ ...through, transport: unkept }),
      }
    }
    this.#bucket = { ...common, ...connect(options.maxSockets) }
    this.#readers = { ...common, ...connect(options.maxSockets ?? READER_SOCKETS) }
    this.#uploads = { partSize, queueSize, maxFileSize }
  }

  put(object: PutObject): Promise<{ readonly size: number }> {
    return uploadObject(this.#bucket, { object, options: this.#uploads, pool: this.#pool })
  }

  open(object: OpenObject): Promise<OpenedObject | undefined> {
    return openObject(this.#readers, object)
  }

  head(object: NamedObject): Promise<ObjectHead | undefined> {
    return headObject(this.#bucket, object)
  }

  remove(object: NamedObject): Promise<void> {
    return translated(removeObject(this.#bucket, object))
  }

  async *list({ prefix: Prefix, signal }: ListObjects): AsyncGenerator<ListedObject, void> {
    let token: string | undefined
    do {
      const page = { Bucket: this.#bucket.name, Prefix, ContinuationToken: token }
      const command: ListObjectsV2Command = new ListObjectsV2Command(page)
      const listed = await translated(callS3(this.#bucket, { command, signal }))
      for (const { Key = '', Size } of listed.Contents ?? []) {
        if (isObjectKey(Key) && Size !== undefined) yield { key: Key, size: Size }
      }
      token = listed.NextContinuationToken
      if (listed.IsTruncated === true && token === undefined)
        throw storeError(new Error('List cut off'))
    } while (token !== undefined)
  }

  async prepare(signal: AbortSignal): Promise<void> {
    try {
      await findBucket(this.#bucket, signal)
    } catch (error) {
      if (!isAppError(error) || !hasName(error.cause, 'NotFound')) throw error
      await this.#createBucket(signal)
    }
  }

  async check(signal: AbortSignal): Promise<void> {
    await findBucket(this.#bucket, signal)
  }

  async close(): Promise<void> {
    this.#bucket.client.destroy()
    for (const transport of this.#transports) transport.destroy?.()
  }

  async #createBucket(signal: AbortSignal): Promise<void> {
    const command = new CreateBucketCommand({ Bucket: this.#bucket.name })
    try {
      await callS3(this.#bucket, { command, signal })
    } catch (error) {
      // Another instance created it first, or this is the SDK's retry after a lost answer.
      if (!hasName(error, 'BucketAlreadyOwnedByYou', 'BucketAlreadyExists')) throw storeError(error)
      await findBucket(this.#bucket, signal)
    }
  }
}
