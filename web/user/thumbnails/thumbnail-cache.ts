/** Thumbnails of earlier visits, by file version. */
export interface ThumbnailCache {
  /** `null` if the version is known to have none, `undefined` if it is not known. Never rejects. */
  find(version: string): Promise<Blob | null | undefined>
  /** Keeps a thumbnail, and drops the oldest ones beyond `MAX_ENTRIES`. Never rejects. */
  keep(version: string, thumbnail: Blob | undefined): Promise<void>
  /** Closes the database. From now on, nothing is found or kept. */
  readonly close: () => void
}

/** Of about 10 KB each, and of 64 KiB at most. */
const MAX_ENTRIES = 4_000
const MAX_THUMBNAIL_BYTES = 64 * 2 ** 10

/** How many are dropped at a time. */
const DROPPED_ENTRIES = 200

const STORE = 'thumbnails'
const BY_TIME = 'at'

interface Entry {
  readonly version: string
  readonly thumbnail: Blob | null
  readonly at: number
}

/** A database of the browser with this name. Without one, as in some private windows, nothing is kept. */
export function openThumbnailCache(name: string): ThumbnailCache {
  let database: Promise<IDBDatabase> | undefined
  let isClosed = false

  function open(): Promise<IDBDatabase> {
    const request = indexedDB.open(name)
    request.addEventListener('upgradeneeded', () => {
      const store = request.result.createObjectStore(STORE, { keyPath: 'version' })
      store.createIndex(BY_TIME, BY_TIME)
    })
    const opened = resultOf(request)
    return opened.then((found) => {
      // Another tab, or signing out, deletes it.
      found.addEventListener('versionchange', () => {
        found.close()
        database = undefined
      })
      return found
    })
  }

  async function storeFor(mode: IDBTransactionMode): Promise<IDBObjectStore> {
    if (isClosed) throw new Error('The cache is closed.')
    database ??= open()
    return (await database).transaction(STORE, mode).objectStore(STORE)
  }

  return {
    async find(version) {
      try {
        const store = await storeFor('readonly')
        const entry = await resultOf(store.get(version) as IDBRequest<Entry | undefined>)
        return entry?.thumbnail
      } catch {
        return undefined
      }
    },

    async keep(version, thumbnail) {
      if (thumbnail !== undefined && thumbnail.size > MAX_THUMBNAIL_BYTES) return
      try {
        const store = await storeFor('readwrite')
        const entry: Entry = { version, thumbnail: thumbnail ?? null, at: Date.now() }
        store.put(entry)
        if ((await resultOf(store.count())) > MAX_ENTRIES) dropOldest(store)
      } catch {
        // The disk is full, or the browser keeps nothing: the thumbnail is made again.
      }
    },

    close() {
      isClosed = true
      database?.then(
        (opened) => opened.close(),
        () => undefined,
      )
    },
  }
}

function dropOldest(store: IDBObjectStore): void {
  let left = DROPPED_ENTRIES
  const request = store.index(BY_TIME).openCursor()
  request.addEventListener('success', () => {
    const cursor = request.result
    if (cursor === null || left === 0) return
    left -= 1
    cursor.delete()
    cursor.continue()
  })
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error ?? new Error('No database.')))
  })
}
