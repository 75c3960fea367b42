import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type { ObjectKey } from '../core/object-key.ts'
import { rejection, withDeadline } from './deadline.ts'
import { DEFAULT_PART_SIZE, type S3Bucket, type S3Deadlines } from './s3-bucket.ts'
import type { Source } from './receive.ts'
import { headObject } from './s3-read.ts'

interface Sending {
  readonly key: ObjectKey
  /** How long sending one part may take. */
  readonly partMs: number
  /** Called with the bytes of each part that the store has. */
  readonly onSent: (bytes: number) => void
}

/** Stands between lib-storage's `Upload`, which waits for ever and goes on after a failure, and the client. */
export class S3Sender {
  readonly #bucket: S3Bucket
  readonly #sending: Sending
  readonly #stop = new AbortController()
  /** Whether the store may hold something of the object. */
  hasSent = false
  /** Whether the store may hold a second multipart upload, whose id got lost with the answer. */
  mayHaveStray = false

  constructor(bucket: S3Bucket, sending: Sending) {
    this.#bucket = bucket
    this.#sending = sending
  }

  /**
   * Gives `upload` a client whose every call has a deadline, and settles as it does, but rejects at once when the
   * first call fails or the source's signal aborts. From then on each call of that client, running or new, rejects.
   */
  async run<T>({ signal }: Source, upload: (client: S3Client) => Promise<T>): Promise<T> {
    const relay = () => this.#stop.abort(signal.reason)
    signal.addEventListener('abort', relay)
    try {
      if (signal.aborted) relay()
      return await Promise.race([upload(this.#createClient()), rejection(this.#stop.signal)])
    } finally {
      signal.removeEventListener('abort', relay)
      // The upload can also fail by itself, with parts under way.
      this.#stop.abort()
    }
  }

  #createClient(): S3Client {
    const send = (command: unknown) => this.#send(command)
    return new Proxy(this.#bucket.client, {
      get: (client, property): unknown =>
        property === 'send' ? send : Reflect.get(client, property, client),
    })
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
    if (command instanceof PutObjectCommand) {
      return this.#last(putMs(command, deadlines), (abortSignal) =>
        client.send(command, { abortSignal }),
      )
    }
    if (command instanceof CompleteMultipartUploadCommand) {
      return this.#last(deadlines.completeMs, (abortSignal) =>
        client.send(command, { abortSignal }),
      )
    }
    throw new TypeError('An upload sends no other command')
  }

  async #sendPart(command: UploadPartCommand): Promise<unknown> {
    const { partMs, onSent } = this.#sending
    const answer = await this.#call(partMs, (abortSignal) =>
      this.#bucket.client.send(command, { abortSignal }),
    )
    const { Body: part } = command.input
    // Whoever waits for the next part still holds the command.
    delete command.input.Body
    if (part instanceof Uint8Array) onSent(part.byteLength)
    return answer
  }

  async #create(command: CreateMultipartUploadCommand): Promise<unknown> {
    const { client, deadlines } = this.#bucket
    const created = await this.#call(deadlines.callMs, (abortSignal) =>
      client.send(command, { abortSignal }),
    )
    this.mayHaveStray = (created.$metadata.attempts ?? 1) > 1
    return created
  }

  /** The call that makes the object: when it fails, the object can be there all the same, of whatever size. */
  async #last(
    ms: number,
    call: (signal: AbortSignal) => Promise<{ ETag?: string | undefined }>,
  ): Promise<unknown> {
    const answer = await this.#call(ms, call).catch((error: unknown) => this.#findOrThrow(error))
    // An error after the status line can look like success to the SDK, but names no ETag.
    if (answer.ETag === undefined) throw new Error('The store confirmed the object without an ETag')
    return answer
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

/** lib-storage sends an object of one part as one piece, so that its size is known here. */
function putMs({ input }: PutObjectCommand, deadlines: S3Deadlines): number {
  const bytes = input.Body instanceof Uint8Array ? input.Body.byteLength : DEFAULT_PART_SIZE
  return Math.max(deadlines.callMs, (deadlines.putMs * bytes) / DEFAULT_PART_SIZE)
}
