import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  formatCursor,
  type Key,
  parseCursor,
  readPage,
} from '../../../src/http/routes/pagination.ts'

const FAULT = { code: 'invalid_parameter', facts: { parameter: 'cursor' } }

it('reads any key back as it was, from text that goes into a URL as it is (property)', () => {
  const part = fc.oneof(fc.string({ unit: 'grapheme' }), fc.maxSafeInteger())
  fc.assert(
    fc.property(fc.array(part), (key) => {
      const cursor = formatCursor(key)
      expect(cursor).toMatch(/^[\w-]+$/)
      expect(parseCursor(cursor, (read) => read).map((one) => one || 0)).toEqual(
        key.map((one) => one || 0),
      )
    }),
  )
})

it('refuses any other text (property)', () => {
  const text = fc.oneof(fc.string(), fc.base64String(), fc.stringMatching(/^[\w-]+$/))
  fc.assert(
    fc.property(text, (cursor) => {
      expect(() => parseCursor(cursor, () => undefined)).toThrow(expect.objectContaining(FAULT))
    }),
  )
})

it.each([
  ['another writing of the same key', `${formatCursor(['a'])}=`, (key: Key) => key],
  ['a key of which the list makes nothing', formatCursor(['a']), () => undefined],
  [
    'a key whose reader throws',
    formatCursor(['a']),
    () => {
      throw new TypeError('no name')
    },
  ],
])('refuses %s', (_what, cursor, read) => {
  expect(() => parseCursor(cursor, read)).toThrow(expect.objectContaining(FAULT))
})

it('goes through a list page by page, and says when it ends', async () => {
  const all = Array.from({ length: 5 }, (_, at) => at)
  const list = {
    read: ([place]: Key) => (typeof place === 'number' ? { place } : undefined),
    list: async ({ after, limit }: { after: { place: number } | undefined; limit: number }) =>
      all.filter((one) => one > (after?.place ?? -1)).slice(0, limit),
    keyOf: (one: number) => [one],
  }
  const first = await readPage({ limit: 3 }, list)
  expect(first.entries).toEqual([0, 1, 2])
  const second = await readPage({ limit: 2, cursor: String(first.next_cursor) }, list)
  expect(second).toEqual({ entries: [3, 4], next_cursor: null })
})
