import type { FileEntry } from '../../shared/model.ts'
import type { FileContent } from '../file-content.ts'
import { createSemaphore } from './semaphore.ts'
import { makeThumbnail, mayHaveThumbnail } from './make-thumbnail.ts'
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
  const read = createSemaphore(AT_ONCE)
  const decode = createSemaphore(1)

  async function make(file: FileEntry, signal: AbortSignal): Promise<Blob | undefined> {
    signal.throwIfAborted()
    const thumbnail = await makeThumbnail(file, { content, decode, signal })
    await cache.keep(file.etag, thumbnail)
    return thumbnail
  }

  return {
    close: cache.close,

    async load(file, signal) {
      if (!mayHaveThumbnail(file)) return undefined
      const known = await cache.find(file.etag)
      if (known !== undefined) return known ?? undefined
      try {
        await settled(signal)
        return await read(() => make(file, signal))
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
