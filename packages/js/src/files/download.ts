import {
  clientError,
  CloudRepositoryError,
  connectionLost,
  isProblem,
  type ProblemOf,
  unexpectedResponse,
} from '../errors.ts'
import type { Answer } from '../http/answer.ts'
import { type Http, quoted } from '../http/http.ts'
import { createSha256, parseReprDigest, type Sha256 } from '../sha256.ts'
import { streamOf } from '../http/stream.ts'

export interface DownloadOptions {
  /**
   * The bytes from `start` up to, but not including, `end`: at least one, or the download rejects with a `RangeError`.
   * Without `end`, up to the end of the file.
   */
  readonly range?: { readonly start: number; readonly end?: number | undefined }
  /** Ends the download, also while `stream` is read. */
  readonly signal?: AbortSignal | undefined
}

/** A file that is being downloaded. Read `stream`, or cancel it. */
export interface Download {
  /**
   * The content. After a lost connection, it continues where it was cut, and only with the same version of the file. It
   * errors with `file_changed` if that is gone, with `digest_mismatch` if the whole file does not have its digest, and
   * with `connection_lost` after five attempts without a byte. `new Response(stream).blob()` collects it.
   */
  readonly stream: ReadableStream<Uint8Array>
  /** The number of bytes that `stream` has. */
  readonly size: number
  /** The size of the whole file in bytes. */
  readonly fileSize: number
  /** As in a listing, without quotes. */
  readonly etag: string
  /** SHA-256 of the whole file in lower-case hexadecimal. */
  readonly sha256: string | undefined
  readonly modifiedAt: Date
}

/** Time without a byte after which a download counts as cut. */
export const STALL_MS = 60_000

/** Resolves when the head of the response has arrived. Nothing is read before the consumer asks for it. */
export async function download(
  http: Http,
  path: string,
  { range, signal }: DownloadOptions,
): Promise<Download> {
  if (range !== undefined) expectRange(range)
  const stop = new AbortController()
  const ended = AbortSignal.any(signal === undefined ? [stop.signal] : [signal, stop.signal])
  const attempts = http.attempts(ended)
  const last = range?.end === undefined ? '' : range.end - 1

  /** Asks for the bytes from `start` on, of the same version if there is an `etag`. */
  async function open(start: number, etag?: string): Promise<Answer & { readonly extent: Extent }> {
    const isPart = range !== undefined || start > 0
    const headers = {
      range: isPart ? `bytes=${start}-${last}` : undefined,
      'if-match': quoted(etag),
      'want-repr-digest': 'sha-256=1',
    }
    return attempts.until(async () => {
      const answer = await http.open({ path, headers, signal: ended })
      const extent = extentOf(answer, isPart)
      if (extent?.start === start) return { ...answer, extent }
      answer.cancel()
      throw unexpectedResponse(answer.status, { missing: 'requested bytes' })
    })
  }

  let answer = await open(range?.start ?? 0)
  const { headers, extent } = answer
  const { etag } = extent
  const sha256 = parseReprDigest(headers.get('repr-digest'))
  const isWhole = extent.start === 0 && extent.end === extent.total
  const hash = isWhole && sha256 !== undefined ? createSha256() : undefined
  let { start } = extent

  /** The next bytes, over as many connections as it takes. */
  async function read(): Promise<Uint8Array | undefined> {
    while (start < extent.end) {
      try {
        const bytes = await answer.read(STALL_MS)
        if (bytes === undefined) throw connectionLost(undefined)
        attempts.reset()
        start += bytes.length
        return bytes
      } catch (error) {
        await attempts.waitAfter(error)
        answer = await open(start, etag).catch((cause: unknown) => {
          throw isProblem(cause, 'precondition_failed', 'not_found', 'version_gone')
            ? clientError('file_changed', 'The file changed meanwhile.', cause)
            : cause
        })
      }
    }
    return undefined
  }

  async function readChecked(): Promise<Uint8Array | undefined> {
    const bytes = await read()
    if (bytes !== undefined) hash?.update(bytes)
    else {
      stop.abort()
      if (hash !== undefined) expectDigest(hash, sha256)
    }
    return bytes
  }

  // Its end also ends a read that is waiting, which otherwise would take it for a lost connection.
  const stream = streamOf(readChecked, () => stop.abort())
  const modifiedAt = new Date(headers.get('last-modified') ?? Number.NaN)
  const { total: fileSize } = extent
  return { stream, size: extent.end - extent.start, fileSize, etag, sha256, modifiedAt }
}

function expectRange({ start, end = start + 1 }: NonNullable<DownloadOptions['range']>): void {
  // The service ignores the header of any other range, and sends the whole file.
  if (![start, end].every(Number.isSafeInteger) || start < 0 || end <= start)
    throw new RangeError('A range has at least one byte.')
}

/** Which bytes of which version a response has. */
interface Extent {
  readonly start: number
  readonly end: number
  /** The size of the file. */
  readonly total: number
  readonly etag: string
}

/** `undefined` for a weak etag too: a proxy has changed the content, and so its length. */
function extentOf({ headers }: Answer, isPart: boolean): Extent | undefined {
  const length = headers.get('content-length')
  const whole = `bytes 0-${Number(length) - 1}/${length}`
  const range = isPart ? headers.get('content-range') : whole
  const [, start, last, total] = /^bytes (\d+)-(-?\d+)\/(\d+)$/.exec(range ?? '') ?? []
  const [, etag] = /^"(.+)"$/.exec(headers.get('etag') ?? '') ?? []
  if (start === undefined || etag === undefined) return undefined
  return { start: Number(start), end: Number(last) + 1, total: Number(total), etag }
}

function expectDigest(hash: Sha256, expected: string | undefined): void {
  const sha256 = hash.hex()
  if (sha256 === expected) return
  const detail = `The content has the digest ${sha256} instead of ${expected}.`
  const problem: ProblemOf<'digest_mismatch'> = { code: 'digest_mismatch', detail, sha256 }
  throw new CloudRepositoryError(problem)
}
