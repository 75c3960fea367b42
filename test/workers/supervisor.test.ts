import { expect, it } from 'vitest'
import { replacementDelayMs } from '../../src/workers/supervisor.ts'

it('replaces a worker at once if it has served, and ever later if workers end early', () => {
  const delays = [0, 1, 2, 3, 4, 5, 6, 7, 100].map(replacementDelayMs)
  expect(delays).toEqual([0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
})
