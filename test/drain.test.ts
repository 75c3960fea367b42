import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { drain } from '../src/drain.ts'
import type { OpenConnections } from '../src/http/open-connections.ts'

it('a listener is not closed at the end of a long turn, in which someone may have come', async () => {
  const longTurns = (async () => {
    for (let turn = 0; turn < 20; turn++) {
      await setImmediate()
      const endsAt = performance.now() + 3
      while (performance.now() < endsAt);
    }
    return 'over'
  })()
  const drained = drain([connections(() => 0)], 0).then(() => 'drained')
  expect(await Promise.race([drained, longTurns])).toBe('over')
  await drained
})

it('nor at the end of one that brought someone', async () => {
  let accepted = 0
  const arrivals = (async () => {
    while (accepted < 5) {
      await setImmediate()
      accepted += 1
    }
    return 'over'
  })()
  const drained = drain([connections(() => accepted)], 0).then(() => 'drained')
  expect(await Promise.race([drained, arrivals])).toBe('over')
  await drained
})

it('but in the end, however many come', async () => {
  let accepted = 0
  await drain([connections(() => accepted++)], 0)
  expect(accepted).toBeGreaterThan(2)
})

function connections(accepted: () => number): OpenConnections {
  return { accepted, quietMs: () => 0, closeIdle: () => {} }
}
