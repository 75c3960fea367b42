import type { FileEntry } from '../../shared/model.ts'
import type { FileContent } from '../file-content.ts'
import { createRangeReader } from '../../shared/range-reader.ts'
import { createSemaphore } from '../../shared/thumbnails/semaphore.ts'
import { makeThumbnail } from '../../shared/thumbnails/make-thumbnail.ts'
import { mayHaveThumbnail } from '../../shared/thumbnails/may-have-thumbnail.ts'
import { openThumbnailCache } from './thumbnail-cache.ts'

export interface Thumbnails {
  /**
   * A small image of the file, or `undefined` if there is none. Reads and decodes a few at a time, in the order of the
   * calls, and not before `SETTLED_MS` have passed without `signal`, so that scrolling past loads nothing. Never rejects.
   */
  load(file: FileEntry, signal: AbortSignal): Promise<Blob | undefined>
  /** Keeps nothing from now on, and closes the database. */
  readonly close: () => void
}

/** Browsers open six connections to an origin. Uploads, the list and its changes need some of them. */
const AT_ONCE = 3

const SETTLED_MS = 120

/** `database` is the name of the browser's database in which they are kept. */
export function createThumbnails(content: FileContent, database: string): Thumbnails {
  const cache = openThumbnailCache(database)
  const inTurn = createSemaphore(AT_ONCE)
  const decode = createSemaphore(1)
  /** By version. */
  const making = new Map<string, Promise<Blob | undefined>>()

  async function make(file: FileEntry, signal: AbortSignal): Promise<Blob | undefined> {
    signal.throwIfAborted()
    const [url, version] = [content.downloadUrlOf(file), `"${file.etag}"`]
    const read = createRangeReader({ url, size: file.size, version, signal })
    const thumbnail = await makeThumbnail(file, { read, decode })
    await cache.keep(file.etag, thumbnail)
    return thumbnail
  }

  /** As `make`, unless it has been made since it was asked for: a tile may leave the view and come back. */
  async function makeOnce(file: FileEntry, signal: AbortSignal): Promise<Blob | undefined> {
    const { etag } = file
    const other = await making.get(etag)?.catch(() => undefined)
    if (other !== undefined) return other
    const known = await cache.find(etag)
    if (known !== undefined) return known ?? undefined
    const made = make(file, signal)
    making.set(etag, made)
    return await made.finally(() => making.delete(etag))
  }

  return {
    close: cache.close,

    async load(file, signal) {
      if (!mayHaveThumbnail(file)) return undefined
      const known = await cache.find(file.etag)
      if (known !== undefined) return known ?? undefined
      try {
        await settled(signal)
        return await inTurn(() => makeOnce(file, signal))
      } catch {
        // Scrolled past, without a connection, or changed meanwhile: made when it is seen again.
        return undefined
      }
    },
  }
}

/** Resolves after `SETTLED_MS`; rejects if `signal` aborts before. */
function settled(signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, SETTLED_MS)
  const stop = (): void => {
    clearTimeout(timer)
    reject(signal.reason)
  }
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return promise
}
