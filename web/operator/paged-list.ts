import { type ReadonlySignal, signal } from '@preact/signals'

/** A listing of the service, as far as it has been read. */
export interface PagedList<Item, Query> {
  readonly items: ReadonlySignal<readonly Item[]>
  readonly hasMore: ReadonlySignal<boolean>
  readonly isReading: ReadonlySignal<boolean>
  readonly query: ReadonlySignal<Query>
  /** Reads the first page again, or that of another query. */
  load(query?: Query): Promise<void>
  loadMore(): Promise<void>
  /** Reads the first page again, unless further pages are loaded, a read is running, or it took several requests. */
  refresh(): Promise<void>
  /** Takes items out of what has been read. */
  drop(isDropped: (item: Item) => boolean): void
  /** Forgets what was read, and ends a running read. */
  readonly clear: () => void
}

export interface ItemPage<Item> {
  readonly items: readonly Item[]
  /** `null` on the last page. A page without items can have a next one. */
  readonly next: string | null
}

export interface PagedListOptions<Item, Query> {
  readonly initial: Query
  readonly read: (query: Query, cursor: string | undefined) => Promise<ItemPage<Item>>
  /** As people sort. Items are in this order once all are read, and as the service sorts before. */
  readonly comparison?: (query: Query) => (a: Item, b: Item) => number
}

export function createPagedList<Item, Query>(
  options: PagedListOptions<Item, Query>,
): PagedList<Item, Query> {
  const { initial } = options
  const items = signal<readonly Item[]>([])
  const hasMore = signal(false)
  const isReading = signal(false)
  const query = signal(initial)
  let cursor: string | null = null
  let lastAsked = 0
  let isFirst = true
  let isQuick = true

  /** Only the result of the latest read counts. */
  async function read(after: string | null): Promise<void> {
    const asked = (lastAsked += 1)
    isReading.value = true
    try {
      let page: ItemPage<Item> = { items: [], next: after }
      let requests = 0
      do {
        page = await options.read(query.value, page.next ?? undefined)
        requests += 1
        if (asked !== lastAsked) return
      } while (page.items.length === 0 && page.next !== null)
      isQuick = requests === 1
      isFirst = after === null
      cursor = page.next
      const read = isFirst ? page.items : [...items.value, ...page.items]
      const compare = cursor === null ? options.comparison?.(query.value) : undefined
      items.value = compare === undefined ? read : read.toSorted(compare)
      hasMore.value = cursor !== null
    } finally {
      if (asked === lastAsked) isReading.value = false
    }
  }

  return {
    items,
    hasMore,
    isReading,
    query,
    async load(wanted = query.value) {
      if (wanted !== query.value) hasMore.value = false
      query.value = wanted
      await read(null)
    },
    loadMore: () => read(cursor),
    async refresh() {
      if (isFirst && isQuick && !isReading.value) await read(null)
    },
    drop(isDropped) {
      items.value = items.value.filter((item) => !isDropped(item))
    },
    clear() {
      lastAsked += 1
      query.value = initial
      items.value = []
      hasMore.value = false
      isReading.value = false
    },
  }
}
