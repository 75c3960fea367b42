import type { BodySource } from '../http/request-body.ts'
import { builtin, type FileHandle } from '../runtime.ts'
import { createSha256 } from '../sha256.ts'

/**
 * What an upload sends: bytes, a `Blob` or `File`, a stream, or a file of this machine by its path (Node.js, Deno and
 * Bun). A string is refused, since it could be meant as text or as a path: use `new Blob([text])` or `{ path }`.
 */
export type Content = Blob | Uint8Array | StreamContent | PathContent

/** A stream can be read only once. Its bytes are never resized or reused by the client. */
export type StreamContent = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

export interface PathContent {
  readonly path: string
}

/** Content of a known size that can be read again from any byte. */
export interface Source extends BodySource {
  readonly size: number
  /** Tells content that has changed from content that has not, in a later process too. */
  readonly fingerprint?: string | undefined
  /** In milliseconds since 1970, if it is known. */
  readonly modified?: number | undefined
}

const CHUNK_BYTES = 256 * 1024

export function isStream(content: Content): content is StreamContent {
  return typeof content === 'object' && (Symbol.asyncIterator in content || 'getReader' in content)
}

export async function openSource(content: Blob | Uint8Array | PathContent): Promise<Source> {
  if (content instanceof Blob) return blobSource(content)
  if (content instanceof Uint8Array) return bytesSource(content)
  if (typeof content === 'object' && typeof content.path === 'string')
    return pathSource(content.path)
  throw new TypeError('The content is a Blob, a Uint8Array, a stream or { path }.')
}

export function bytesSource(bytes: Uint8Array): Source {
  return {
    size: bytes.length,
    async *read(start, end) {
      for (const [from, to] of chunks(start, end)) yield bytes.subarray(from, to)
    },
    blob: (start, end) => new Blob([bytes.subarray(start, end) as Uint8Array<ArrayBuffer>]),
  }
}

function blobSource(blob: Blob): Source {
  const { name, lastModified } = blob as Partial<File>
  return {
    size: blob.size,
    fingerprint: name === undefined ? undefined : `${name} ${blob.size} ${lastModified}`,
    modified: lastModified,
    async *read(start, end) {
      for (const [from, to] of chunks(start, end)) {
        yield new Uint8Array(await blob.slice(from, to).arrayBuffer())
      }
    },
    blob: (start, end) => blob.slice(start, end),
  }
}

async function pathSource(path: string): Promise<Source> {
  const files = builtin('node:fs/promises')
  if (files === undefined) throw new TypeError('A path needs Node.js 20.16, Deno or Bun.')
  const { size, mtimeMs } = await files.stat(path)
  return {
    size,
    fingerprint: `${path} ${size} ${mtimeMs}`,
    modified: Math.floor(mtimeMs),
    async *read(start, end) {
      const file = await files.open(path)
      try {
        for (const [from, to] of chunks(start, end)) yield await readChunk(file, from, to)
      } finally {
        await file.close()
      }
    },
    blob: () => undefined,
  }
}

async function readChunk(file: FileHandle, from: number, to: number): Promise<Uint8Array> {
  const chunk = new Uint8Array(to - from)
  for (let filled = 0; filled < chunk.length;) {
    const { bytesRead } = await file.read(chunk, filled, chunk.length - filled, from + filled)
    if (bytesRead === 0) throw new RangeError('The file became shorter while it was read.')
    filled += bytesRead
  }
  return chunk
}

function* chunks(start: number, end: number): Generator<readonly [number, number]> {
  for (let from = start; from < end; from += CHUNK_BYTES) {
    yield [from, Math.min(from + CHUNK_BYTES, end)]
  }
}

/** Reads the whole content. */
export async function digestOf(source: Source, signal: AbortSignal | undefined): Promise<string> {
  const hash = createSha256()
  for await (const chunk of source.read(0, source.size)) {
    signal?.throwIfAborted()
    hash.update(chunk)
  }
  return hash.hex()
}

/**
 * The chunks of a stream. `return` cancels it, also while a chunk is awaited. The first is asked for at once, because a
 * stream that has failed before tells its reader so, or else everybody.
 */
export function chunksOf(content: StreamContent): AsyncIterator<Uint8Array, unknown> {
  const chunks = iteratorOf(content)
  let first: ReturnType<typeof chunks.next> | undefined = chunks.next()
  first.catch(() => undefined)
  return {
    next() {
      const next = first ?? chunks.next()
      first = undefined
      return next
    },
    return: async () => chunks.return?.() ?? { done: true, value: undefined },
  }
}

function iteratorOf(content: StreamContent): AsyncIterator<Uint8Array, unknown> {
  if (!('getReader' in content)) return content[Symbol.asyncIterator]()
  const reader = content.getReader()
  return {
    next: () => reader.read(),
    async return() {
      await reader.cancel()
      return { done: true, value: undefined }
    },
  }
}
