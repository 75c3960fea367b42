import { expect, it } from 'vitest'
import { lifeWithin } from '../../../src/core/auth/scope.ts'

it.each([
  { asked: undefined, maker: undefined, max: undefined, life: undefined },
  { asked: undefined, maker: 5, max: undefined, life: 5 },
  { asked: undefined, maker: undefined, max: 9, life: 9 },
  { asked: undefined, maker: 5, max: 9, life: 5 },
  { asked: undefined, maker: 12, max: 9, life: 9 },
  { asked: 3, maker: undefined, max: undefined, life: 3 },
  { asked: 3, maker: 5, max: 9, life: 3 },
  { asked: 5, maker: 5, max: undefined, life: 5 },
])('A link of $asked ms, by a token with $maker ms left, lives for $life ms', (row) => {
  const { asked: askedMs, maker: makerMs, max: maxMs, life } = row
  expect(lifeWithin({ askedMs, makerMs, maxMs })).toBe(life)
})

it.each([
  { asked: 6, maker: 5 },
  { asked: undefined, maker: 0 },
  { asked: undefined, maker: -1 },
])('A token with $maker ms left makes no link of $asked ms', ({ asked, maker }) => {
  const refusal = expect.objectContaining({ code: 'scope_insufficient' }) as Error
  expect(() => lifeWithin({ askedMs: asked, makerMs: maker })).toThrow(refusal)
})
