import { builtin } from '../runtime.ts'
import { SENDING_MS, STORING_MS } from './watchdog.ts'

/** What a request reads its body from. */
export interface BodySource {
  /** The bytes from `start` up to `end`. Rejects with the error of what is read. */
  read(start: number, end: number): AsyncIterable<Uint8Array>
  /** The same bytes without reading them, for browsers. `undefined` if there is no `Blob` of them. */
  blob(start: number, end: number): Blob | undefined
}

/** The body of a request: the bytes of a source from `start` to its end, or a stream that can be sent once. */
export interface SentContent {
  readonly source: BodySource
  readonly start: number
  /** `undefined` if the length is unknown. */
  readonly end: number | undefined
  /** Called for each chunk, with the number of bytes sent so far. */
  readonly onSent?: (bytes: number) => void
}

export interface RequestBody {
  readonly body: NonNullable<RequestInit['body']>
  /** `undefined` if the runtime sets the header itself, or if the length is unknown. */
  readonly length: number | undefined
  /** The error of the source or of `onSent`, which `fetch` would report as a failure of its own. */
  failure?(): unknown
  /** Releases the source, of which `fetch` does not read the rest. */
  end?(): void
}

/** A stream in Node.js, Deno and Bun, so that nothing is read before the network takes it; a `Blob` in browsers. */
export function openBody(content: SentContent, expect: (ms: number) => void): RequestBody {
  const { source, start, end: until, onSent } = content
  const length = until === undefined ? undefined : until - start
  const isBrowser = builtin('node:fs/promises') === undefined
  const whole =
    length === 0 ? '' : isBrowser && until !== undefined ? source.blob(start, until) : undefined
  if (whole !== undefined) {
    // Nothing tells when it is sent.
    expect(STORING_MS)
    return { body: whole, length: undefined }
  }
  const chunks = source.read(start, until ?? Infinity)[Symbol.asyncIterator]()
  let failure: unknown
  let sent = 0
  const pull = async (
    controller: Pick<ReadableStreamDefaultController<Uint8Array>, 'close' | 'enqueue'>,
  ): Promise<void> => {
    let next
    try {
      next = await chunks.next()
      if (next.done !== true) onSent?.(sent)
    } catch (error) {
      failure = error
      throw error
    }
    expect(next.done === true ? STORING_MS : SENDING_MS)
    if (next.done === true) return controller.close()
    sent += next.value.length
    controller.enqueue(next.value)
  }
  const end = (): void => {
    chunks.return?.().catch(() => undefined)
  }
  const body = new ReadableStream<Uint8Array>({ pull, cancel: end }, { highWaterMark: 0 })
  return { body, length, failure: () => failure, end }
}

/** The body as a `Blob`, where `XMLHttpRequest` can send it. */
export function blobOf({ source, start, end }: SentContent): Blob | undefined {
  return 'XMLHttpRequest' in globalThis && end !== undefined ? source.blob(start, end) : undefined
}
