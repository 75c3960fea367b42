export interface Readable {
  readonly url: string
  /** In bytes. */
  readonly size: number
  /** The version to read, as its ETag; the current one if it is left out. */
  readonly version?: string | undefined
  readonly signal: AbortSignal
}

/** What has begun to arrive of at most as many bytes is read to its end, or it would only be read again. */
const SMALL_BYTES = 128 * 2 ** 10

/**
 * Reads the bytes from `from` up to, not including, `to`, or to the end of the file; of one version, however often it is
 * called. Rejects if there is no connection, if the file has changed since, and with the reason of the signal, unless
 * little is read and has begun to arrive.
 */
export function createRangeReader({ url, size, version, signal }: Readable) {
  let known = version
  return async (from: number, to: number): Promise<Uint8Array<ArrayBuffer>> => {
    const end = Math.min(to, size)
    // No range of an empty file can be satisfied.
    if (end <= from) return new Uint8Array()
    const asking = new AbortController()
    const stop = (): void => asking.abort(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop)
    const headers = new Headers({ range: `bytes=${from}-${end - 1}` })
    if (known !== undefined) headers.set('if-match', known)
    // Parts of a file would only push other things out of the browser's cache.
    const response = await fetch(url, { headers, signal: asking.signal, cache: 'no-store' })
    if (end - from <= SMALL_BYTES) signal.removeEventListener('abort', stop)
    if (response.status !== 206) {
      await response.body?.cancel()
      throw new Error(`Status ${response.status}.`)
    }
    known = response.headers.get('etag') ?? undefined
    return new Uint8Array(await response.arrayBuffer())
  }
}
