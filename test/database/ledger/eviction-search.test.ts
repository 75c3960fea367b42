import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import { parseFileName, parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { evictionOf } from '../../../src/database/ledger/evictable.ts'
import { untilFound } from '../../../src/database/ledger/eviction-search.ts'
import { UnfinishedSearches } from '../../../src/database/ledger/unfinished-searches.ts'

const FIRST = { age: 0, named: '' }

function evictionWith(prefix: string, user = 'ann') {
  const [userId, name] = [parseUserId(user), parseFileName('new')]
  const eviction = evictionOf({ userId, name, evict: parseFileNamePrefix(prefix) })
  if (eviction === undefined) throw new Error('It evicts.')
  return eviction
}

describe('where a search for files to evict continues', () => {
  it('is of a user and a prefix', () => {
    const searches = new UnfinishedSearches()
    const position = { age: 5, named: 'cam-1' }
    searches.continue(evictionWith('cam-'), position)
    expect(searches.startOf(evictionWith('cam-'))).toEqual(position)
    expect(searches.startOf(evictionWith('cam'))).toEqual(FIRST)
    expect(searches.startOf(evictionWith('cam-', 'bob'))).toEqual(FIRST)
  })

  it('is the beginning again a minute after the search began, however far it has come since', () => {
    let now = 0
    const searches = new UnfinishedSearches(() => now)
    const eviction = evictionWith('cam-')
    searches.continue(eviction, { age: 5, named: 'a' })
    now = 59_000
    searches.continue(eviction, { age: 6, named: 'b' })
    now = 60_001
    expect(searches.startOf(eviction)).toEqual(FIRST)
    searches.continue(eviction, { age: 7, named: 'c' })
    expect(searches.startOf(eviction)).toEqual({ age: 7, named: 'c' })
  })

  it('is the beginning for a refusal, unless the search began within the last second', () => {
    let now = 0
    const searches = new UnfinishedSearches(() => now)
    const eviction = evictionWith('cam-')
    expect(searches.restart(eviction)).toBe(false)
    searches.continue(eviction, { age: 5, named: 'a' })
    now = 1_000
    expect(searches.restart(eviction)).toBe(false)
    now = 1_001
    expect(searches.restart(eviction)).toBe(true)
    expect(searches.startOf(eviction)).toEqual(FIRST)
  })

  it('is kept for a thousand searches', () => {
    const searches = new UnfinishedSearches()
    for (let at = 0; at <= 1_000; at++) searches.continue(evictionWith(`p${at}`), FIRST)
    searches.continue(evictionWith('p0'), { age: 1, named: 'a' })
    expect(searches.startOf(evictionWith('p0'))).toEqual({ age: 1, named: 'a' })
    expect(searches.startOf(evictionWith('p1'))).toEqual(FIRST)
  })

  it('does not repeat other failures', async () => {
    let calls = 0
    const failing = untilFound(async () => {
      calls += 1
      throw new AppError('unavailable', 'It is down.')
    })
    await expect(failing).rejects.toThrow('It is down.')
    expect(calls).toBe(1)
  })
})
