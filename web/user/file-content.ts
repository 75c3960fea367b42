import { type Connection, filePath } from '../shared/connection.ts'
import type { FileEntry } from '../shared/model.ts'

/** What a page needs to show a file, besides the API. */
export interface FileContent {
  /** Downloads the file. */
  downloadUrlOf(file: FileEntry): string
  /** The file as its media type, if the service shows that type; otherwise a download. */
  inlineUrlOf(file: FileEntry): string
  /**
   * Reads the bytes from `from` up to, not including, `to`, or to the end of the file. Rejects with the reason of the
   * signal, and if there is no connection, or the file has changed since.
   */
  read(file: FileEntry, range: ByteRange): Promise<Uint8Array<ArrayBuffer>>
}

export interface ByteRange {
  readonly from: number
  readonly to: number
  readonly signal: AbortSignal
}

export function createFileContent(connection: Pick<Connection, 'urlOf'>): FileContent {
  return {
    downloadUrlOf: ({ name }) => connection.urlOf(filePath(name)),
    inlineUrlOf: ({ name }) => connection.urlOf(`${filePath(name)}?inline=true`),

    async read({ name, etag, size }, { from, to, signal }) {
      const end = Math.min(to, size)
      // No range of an empty file can be satisfied.
      if (end <= from) return new Uint8Array()
      const range = `bytes=${from}-${end - 1}`
      const headers = { range, 'if-match': `"${etag}"` }
      // Parts of a file would only push other things out of the browser's cache.
      const response = await fetch(connection.urlOf(filePath(name)), {
        headers,
        signal,
        cache: 'no-store',
      })
      if (response.status !== 206) {
        await response.body?.cancel()
        throw new Error(`Status ${response.status}.`)
      }
      return new Uint8Array(await response.arrayBuffer())
    },
  }
}
