import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type {
  History,
  HistoryListingOptions,
  HistoryPage,
} from '../../../../packages/js/src/history.ts'
import type { PastVersion } from '../../../../web/shared/model.ts'
import { createPastVersions } from '../../../../web/user/history/past-versions.ts'

function pastOf(version: string): PastVersion {
  const [ended_at, expires_at] = ['2026-11-24T00:00:00Z', '2026-12-24T00:00:00Z']
  const file = {
    name: 'a',
    size: 1,
    sha256: '',
    visibility: 'private',
    media_type: 'text/plain',
    metadata: {},
    device_id: null,
    created_at: ended_at,
  } as const
  return { ...file, version, ended_at, ended_as: 'deleted', expires_at }
}

/** Past versions whose reads the test answers, in any order. */
function createRead() {
  const reads: { query: string; resolve: (page: HistoryPage) => void }[] = []
  async function* pages(options: HistoryListingOptions = {}) {
    const { promise, resolve } = Promise.withResolvers<HistoryPage>()
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(options)) {
      if (value !== undefined) query.set(name, String(value))
    }
    reads.push({ query: query.toString(), resolve })
    yield await promise
  }
  const list: History['list'] = (options) => ({
    pages: () => pages(options),
    async *[Symbol.asyncIterator]() {
      for await (const { versions } of pages(options)) yield* versions
    },
  })
  const past = createPastVersions({ list })
  const answer = async (at: number, versions: readonly string[], cursor: string | null = null) => {
    reads[at]?.resolve({ versions: versions.map(pastOf), next_cursor: cursor })
    await vi.advanceTimersByTimeAsync(0)
  }
  const shown = () => past.versions.value.map(({ version }) => version)
  return { past, answer, shown, queries: () => reads.map(({ query }) => query) }
}

describe('the past versions in the page', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('are those of the last read, and none after the view is closed', async () => {
    const { past, answer, shown, queries } = createRead()
    past.open('a b')
    past.open()
    expect(queries()).toEqual(['limit=100&name=a+b', 'limit=100'])
    await answer(1, ['2'])
    await answer(0, ['1'])
    expect(shown()).toEqual(['2'])
    expect(past.isLoading.value).toBe(false)
    past.open()
    past.close()
    await answer(2, ['3'])
    expect(shown()).toEqual([])
  })

  it('are read once after several changes, as many as are shown, and only in an open view', async () => {
    const { past, answer, shown, queries } = createRead()
    past.refresh()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(queries()).toEqual([])
    past.open()
    await answer(0, Array.from({ length: 100 }, String), 'next')
    past.loadMore()
    await answer(1, ['100'])
    expect(shown()).toHaveLength(101)
    for (let change = 0; change < 5; change += 1) past.refresh()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(queries()).toEqual(['limit=100', 'limit=100&cursor=next', 'limit=200'])
  })

  it('leave the view at once when they leave the history, which is then read again', async () => {
    const { past, answer, shown, queries } = createRead()
    past.open()
    await answer(0, ['1', '2', '3'])
    past.forget('2')
    expect(shown()).toEqual(['1', '3'])
    past.forget()
    expect(shown()).toEqual([])
    await vi.advanceTimersByTimeAsync(1_000)
    expect(queries()).toHaveLength(2)
  })
})
