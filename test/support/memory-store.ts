import { addAbortSignal, Readable } from 'node:stream'
import type {
  ListedObject,
  ListObjects,
  ObjectHead,
  ObjectStore,
  OpenedObject,
  OpenObject,
  PutObject,
} from '../../src/core/objects/object-store.ts'
import type { NamedObject, ObjectKey } from '../../src/core/objects/object-key.ts'
import { DEFAULT_PART_SIZE } from '../../src/object-store/s3/part-size.ts'
import type {
  AppendObject,
  AppendToPlan,
  Durable,
  FinishObject,
  PlannedAppend,
  RecordedUpload,
  StoredAppend,
} from '../../src/core/objects/append-store.ts'
import { consumeBody } from '../../src/object-store/consume-body.ts'
import { receiveBody } from '../../src/object-store/receive-body.ts'
import { parseMembers, storeError } from '../../src/object-store/store-error.ts'

/** For tests and trials: nothing survives the process, and each `put` buffers its whole body. */
export function createMemoryStore(): ObjectStore {
  return new MemoryStore()
}

const CHUNK_BYTES = 64 * 1024

const NOTHING = Buffer.alloc(0)

interface StoredObject {
  readonly content: Buffer
  readonly metadata: ObjectHead['metadata']
}

class MemoryStore implements ObjectStore {
  readonly hasTails = false
  readonly #objects = new Map<ObjectKey, StoredObject>()
  /** What appends have stored; the last one that has begun may go on with it. */
  readonly #growing = new Map<ObjectKey, { readonly content: Buffer }>()
  /** The plan of that append. An older one comes late. */
  readonly #newestPlans = new Map<ObjectKey, number>()
  #plans = 0
  #identity: string | undefined

  async put(object: PutObject): Promise<{ readonly size: number }> {
    const { key, body, metadata = {}, signal } = object
    if (body instanceof Uint8Array) {
      if (signal.aborted) throw storeError(signal.reason)
      this.#objects.set(key, { content: Buffer.from(body), metadata })
      return { size: body.byteLength }
    }
    const content = await consumeBody({ body, signal }, async ({ bytes }) => {
      const chunks: Uint8Array[] = []
      for await (const chunk of bytes) chunks.push(Uint8Array.from(chunk))
      return Buffer.concat(chunks)
    })
    this.#objects.set(key, { content, metadata })
    return { size: content.byteLength }
  }

  partSizeFor(): number {
    return DEFAULT_PART_SIZE
  }

  planAppend({ storeState: ifUnused }: AppendToPlan): PlannedAppend {
    this.#plans += 1
    return { storeState: JSON.stringify({ plan: this.#plans }), ifUnused, extraBytes: 0 }
  }

  isFenceable(): boolean {
    return true
  }

  /** A fenced append leaves nothing here. */
  async removeFenced({ signal }: NamedObject): Promise<void> {
    throwIfAborted(signal)
  }

  async append(append: AppendObject): Promise<StoredAppend | undefined> {
    const { key, body, offset, storeState, onDurable, signal } = append
    const plan = Number(parseMembers(storeState)['plan'] ?? 0)
    if (plan < (this.#newestPlans.get(key) ?? 0)) {
      body.destroy()
      throw storeError(new Error('Another append took over'))
    }
    this.#newestPlans.set(key, plan)
    let growing = { content: this.#growing.get(key)?.content.subarray(0, offset) ?? NOTHING }
    if (growing.content.byteLength < offset) {
      body.destroy()
      return undefined
    }
    this.#growing.set(key, growing)
    const durable = (): Durable => {
      const { byteLength } = growing.content
      return { offset: byteLength, replacedFrom: offset, pieces: [], storeState }
    }
    const { failure } = await receiveBody({ body, signal }, async ({ bytes, signal }) => {
      for await (const chunk of bytes) {
        signal.throwIfAborted()
        if (this.#growing.get(key) !== growing) throw new Error('Another append took over')
        growing = { content: Buffer.concat([growing.content, chunk]) }
        this.#growing.set(key, growing)
        onDurable(durable())
      }
    })
    const appended = { durable: durable() }
    return failure === undefined ? appended : { ...appended, failure: failure.error }
  }

  async finish(upload: FinishObject): Promise<{ readonly size: number } | undefined> {
    const { key, size, metadata, signal } = upload
    throwIfAborted(signal)
    const content = this.#growing.get(key)?.content
    const isWhole = content?.byteLength === size
    if (isWhole && !this.#objects.has(key)) this.#objects.set(key, { content, metadata })
    this.#growing.delete(key)
    const found = this.#objects.get(key)?.content.byteLength
    return found === size ? { size } : undefined
  }

  async isStored({ key, offset, signal }: RecordedUpload): Promise<boolean> {
    throwIfAborted(signal)
    const { content } = this.#growing.get(key) ?? this.#objects.get(key) ?? { content: NOTHING }
    return content.byteLength >= offset
  }

  async open({ key, range, signal }: OpenObject): Promise<OpenedObject | undefined> {
    const content = this.#find({ key, signal })?.content
    if (content === undefined) return undefined
    const first = range?.first ?? 0
    const end = range === undefined ? content.byteLength : range.last + 1
    const body = Readable.from(slices(content.subarray(first, end)), {
      objectMode: false,
      highWaterMark: 0,
    })
    return { body: addAbortSignal(signal, body), size: content.byteLength }
  }

  async head(object: NamedObject): Promise<ObjectHead | undefined> {
    const found = this.#find(object)
    return found && { size: found.content.byteLength, metadata: found.metadata }
  }

  async remove({ key, signal }: NamedObject): Promise<void> {
    throwIfAborted(signal)
    this.#growing.delete(key)
    this.#objects.delete(key)
  }

  async *list({ prefix, signal }: ListObjects): AsyncGenerator<ListedObject, void> {
    for (const [key, { content }] of this.#objects) {
      throwIfAborted(signal)
      if (key.startsWith(prefix)) yield { key, size: content.byteLength }
    }
  }

  async prepare(signal: AbortSignal): Promise<void> {
    throwIfAborted(signal)
  }

  async readIdentity(signal: AbortSignal): Promise<string | undefined> {
    throwIfAborted(signal)
    return this.#identity
  }

  async createIdentity(identity: string, signal: AbortSignal): Promise<string> {
    throwIfAborted(signal)
    return (this.#identity ??= identity)
  }

  async check(signal: AbortSignal): Promise<void> {
    throwIfAborted(signal)
  }

  async close(): Promise<void> {}

  #find({ key, signal }: NamedObject): StoredObject | undefined {
    throwIfAborted(signal)
    return this.#objects.get(key)
  }
}

function* slices(content: Buffer): Generator<Buffer, undefined> {
  for (let start = 0; start < content.byteLength; start += CHUNK_BYTES) {
    yield content.subarray(start, start + CHUNK_BYTES)
  }
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw storeError(signal.reason)
}
