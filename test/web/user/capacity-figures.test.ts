import { expect, it, onTestFinished, vi } from 'vitest'
import type { Capacity } from '../../../web/shared/model.ts'
import { createCapacityFigures } from '../../../web/user/capacity-figures.ts'

/** Figures whose reads the test answers. */
function openFigures() {
  const answers: PromiseWithResolvers<Capacity>[] = []
  const client = {
    capacity: () => {
      const answer = Promise.withResolvers<Capacity>()
      answers.push(answer)
      return answer.promise
    },
  }
  return { capacity: createCapacityFigures(client, { may: () => true }), answers }
}

it('the figures are those of the read that began last', async () => {
  const { capacity, answers } = openFigures()
  const reads = [capacity.read(), capacity.read()]
  const [older, newer] = [{ used: 1 }, { used: 2 }] as unknown as readonly Capacity[]
  if (newer !== undefined) answers[1]?.resolve(newer)
  await reads[1]
  if (older !== undefined) answers[0]?.resolve(older)
  expect(await reads[0]).toBe(older)
  expect(capacity.figures.value).toBe(newer)
})

it('one read waits for the end of an outage, however often they are refreshed, and one follows', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { capacity, answers } = openFigures()
  for (let times = 0; times < 10; times += 1) {
    capacity.refresh()
    await vi.advanceTimersByTimeAsync(2_000)
  }
  expect(answers).toHaveLength(1)
  answers[0]?.reject(new Error('Refused.'))
  await vi.advanceTimersByTimeAsync(2_000)
  expect(answers).toHaveLength(2)
  answers[1]?.resolve({ used: 1 } as unknown as Capacity)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(answers).toHaveLength(2)
})
