import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { drain, emptyQueue, type OpenConnections } from '../../src/compose/stop.ts'

it('a listener is not closed at the end of a long turn, in which someone may have come', async () => {
  const longTurns = (async () => {
    for (let turn = 0; turn < 20; turn++) {
      await setImmediate()
      const endsAt = performance.now() + 3
      while (performance.now() < endsAt);
    }
    return 'over'
  })()
  const emptied = emptyQueue(connections(() => Number.NEGATIVE_INFINITY)).then(() => 'emptied')
  expect(await Promise.race([emptied, longTurns])).toBe('over')
  await emptied
})

it('a listener is not closed while someone comes every few milliseconds', async () => {
  let lastChangedAt = performance.now()
  const arrivals = (async () => {
    const endsAt = performance.now() + 500
    for (; performance.now() < endsAt; await setImmediate()) {
      if (performance.now() - lastChangedAt > 10) lastChangedAt = performance.now()
    }
    return 'over'
  })()
  const emptied = emptyQueue(connections(() => lastChangedAt)).then(() => 'emptied')
  expect(await Promise.race([emptied, arrivals])).toBe('over')
  await emptied
})

it('a listener is closed in the end, however many come', async () => {
  const begun = performance.now()
  await emptyQueue(connections(() => performance.now()))
  expect(performance.now() - begun).toBeLessThan(2_500)
})

it('a listener is closed at once when nobody has come for a while', async () => {
  const begun = performance.now()
  await emptyQueue(connections(() => begun - 1_000))
  expect(performance.now() - begun).toBeLessThan(500)
})

it.each([
  [1_000, 'no connection has been open for long', { quietMs: Infinity, maxMs: 3_000 }],
  [1_500, 'a connection stays open', { quietMs: 0, maxMs: 1_500 }],
  [0, 'it must not wait', { quietMs: 0, maxMs: 0 }],
])('a drain takes %s ms if %s', async (expectedMs, _case, { quietMs, maxMs }) => {
  const begun = performance.now()
  await drain({ ...connections(() => 0), quietMs: () => quietMs }, maxMs)
  const ms = performance.now() - begun
  expect(ms).toBeGreaterThanOrEqual(expectedMs)
  expect(ms).toBeLessThan(expectedMs + 1_400)
})

function connections(lastChangedAt: () => number): OpenConnections {
  return { lastChangedAt, quietMs: () => 0, closeIdle: () => {} }
}
