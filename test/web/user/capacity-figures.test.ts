import { expect, it } from 'vitest'
import type { Capacity } from '../../../web/shared/model.ts'
import { createCapacityFigures } from '../../../web/user/capacity-figures.ts'

it('the figures are those of the read that began last', async () => {
  const answers: PromiseWithResolvers<Capacity>[] = []
  const client = {
    capacity: () => {
      const answer = Promise.withResolvers<Capacity>()
      answers.push(answer)
      return answer.promise
    },
  }
  const capacity = createCapacityFigures(client, { may: () => true })
  const reads = [capacity.read(), capacity.read()]
  const [older, newer] = [{ used: 1 }, { used: 2 }] as unknown as readonly Capacity[]
  if (newer !== undefined) answers[1]?.resolve(newer)
  await reads[1]
  if (older !== undefined) answers[0]?.resolve(older)
  expect(await reads[0]).toBe(older)
  expect(capacity.figures.value).toBe(newer)
})
