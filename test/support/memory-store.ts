import { addAbortSignal, Readable } from 'node:stream'
import type {
  ListedObject,
  ListObjects,
  NamedObject,
  ObjectHead,
  ObjectStore,
  OpenedObject,
  OpenObject,
  PutObject,
} from '../../src/core/objects/object-store.ts'
import type { ObjectKey } from '../../src/core/objects/object-key.ts'
import { consumeBody } from '../../src/object-store/consume-body.ts'
import { storeError } from '../../src/object-store/store-error.ts'

/** For tests and trials: nothing survives the process, and each `put` buffers its whole body. */
export function createMemoryStore(): ObjectStore {
  return new MemoryStore()
}

const CHUNK_BYTES = 64 * 1024

interface StoredObject {
  readonly content: Buffer
  readonly metadata: ObjectHead['metadata']
}

class MemoryStore implements ObjectStore {
  readonly #objects = new Map<ObjectKey, StoredObject>()

  async put(object: PutObject): Promise<{ readonly size: number }> {
    const { key, metadata = {}, memory } = object
    const content = await consumeBody(object, async ({ bytes }) => {
      const chunks: Uint8Array[] = []
      for await (const chunk of memory?.hold(bytes) ?? bytes) {
        chunks.push(Uint8Array.from(chunk))
        // Stored content does not count as upload memory.
        memory?.release(chunk.byteLength)
      }
      return Buffer.concat(chunks)
    })
    this.#objects.set(key, { content, metadata })
    return { size: content.byteLength }
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
