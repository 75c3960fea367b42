import { connectionLost, unexpectedResponse } from '../errors.ts'
import type { Http } from '../http/http.ts'
import { STALL_MS } from './download.ts'
import { streamOf } from '../http/stream.ts'

export interface ArchiveOptions {
  /** The files whose names begin with this, instead of all. */
  readonly prefix?: string | undefined
  /** The files of these names, 1 to 200, instead of a prefix. Without any, the archive rejects with a `RangeError`. */
  readonly names?: readonly string[] | undefined
  /** Ends the download, also while `stream` is read. */
  readonly signal?: AbortSignal | undefined
}

/** A ZIP archive that is being downloaded. Read `stream`, or cancel it. */
export interface Archive {
  /**
   * The archive. It errors with `connection_lost` if not all of it arrives. It cannot be continued, because the service
   * makes each archive anew.
   */
  readonly stream: ReadableStream<Uint8Array>
  /** The number of bytes that `stream` has. */
  readonly size: number
}

/** Resolves when the head of the response has arrived, also after temporary failures. */
export async function downloadArchive(
  http: Http,
  path: string,
  { prefix, names, signal }: ArchiveOptions,
): Promise<Archive> {
  // Without a name, the service would send all files.
  if (names?.length === 0) throw new RangeError('An archive has at least one file.')
  const call = { path, query: { prefix, name: names }, signal }
  const answer = await http.attempts(signal).until(() => http.open(call))
  const length = answer.headers.get('content-length')
  if (length === null) {
    answer.cancel()
    throw unexpectedResponse(answer.status, { missing: 'Content-Length' })
  }
  const size = Number(length)
  let received = 0
  async function read(): Promise<Uint8Array | undefined> {
    const bytes = await answer.read(STALL_MS)
    received += bytes?.length ?? 0
    if (bytes === undefined && received < size) throw connectionLost(undefined)
    return bytes
  }
  return { stream: streamOf(read, () => answer.cancel()), size }
}
