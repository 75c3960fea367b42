import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { expect } from 'vitest'
import { objectKey, type ObjectKey, createVersion } from '../../src/core/objects/object-key.ts'
import {
  chunksOf,
  type ObjectStore,
  type OpenedObject,
} from '../../src/core/objects/object-store.ts'
import { parseUserId } from '../../src/core/users/user-id.ts'

export function freshKey(userId = 'contract'): ObjectKey {
  return objectKey(parseUserId(userId), createVersion())
}

export function never(): AbortSignal {
  return new AbortController().signal
}

interface Put {
  readonly key: ObjectKey
  readonly content?: Buffer
  readonly body?: Readable
  readonly signal?: AbortSignal
}

export function put(store: ObjectStore, object: Put): Promise<{ readonly size: number }> {
  const { key, content = Buffer.alloc(0), body = chunked(content), signal = never() } = object
  return store.put({ key, body, signal })
}

/** Chunks of an odd size, so that no part begins where a chunk does. */
export function chunked(content: Buffer): Readable {
  const starts = Array.from({ length: Math.ceil(content.length / 65_521) }, (_, at) => at * 65_521)
  return Readable.from(starts.map((start) => content.subarray(start, start + 65_521)))
}

/** A body that yields `size` bytes and then nothing, until it is finished. */
export function stalledBody(size: number): {
  readonly body: Readable
  readonly finish: () => void
  /** Resolves when the store has read all of them, and had time to work on them. */
  readonly drained: () => Promise<void>
} {
  let left = size
  const body = new Readable({
    read() {
      if (left === 0) return
      const chunk = Buffer.alloc(Math.min(left, 65_536), 'x')
      left -= chunk.length
      this.push(chunk)
    },
  })
  return {
    body,
    finish: () => void body.push(null),
    async drained() {
      await expect.poll(() => left + body.readableLength, { interval: 5 }).toBe(0)
      await new Promise((resolve) => setTimeout(resolve, 100))
    },
  }
}

export function* failingAfter(size: number, failure: Error): Generator<Buffer, void> {
  for (let sent = 0; sent < size; sent += 100_000) yield Buffer.alloc(100_000)
  throw failure
}

export async function bytesOf(body: OpenedObject['body'] | undefined): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body ? chunksOf({ body }) : []) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

/** The body of an opened object as a stream, however the store brings it. */
export function streamOf(opened: Pick<OpenedObject, 'body'> | undefined): Readable {
  const { body = new Uint8Array() } = opened ?? {}
  return body instanceof Uint8Array ? Readable.from([body], { objectMode: false }) : body
}

export async function read(store: ObjectStore, key: ObjectKey) {
  const opened = await store.open({ key, signal: never() })
  if (opened === undefined) return undefined
  return { size: opened.size, sha256: digest(await bytesOf(opened.body)) }
}

export function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
