import { describe, expect, it } from 'vitest'
import { Headroom } from '../../../../src/core/uploads/memory/headroom.ts'

describe('Headroom', () => {
  it('gives a user half as much as it has left', () => {
    const reserve = new Headroom({ bytes: 12, largest: 1 })
    let ann = 0
    while (reserve.take('ann', 1)) ann += 1
    expect(ann).toBe(4)
    expect(reserve.taken).toBe(4)
  })

  it('has some left for one more beside twenty who take all they can', () => {
    const reserve = new Headroom({ bytes: 32, largest: 1 })
    const users = Array.from({ length: 20 }, (_, at) => `greedy-${at}`)
    for (let rounds = 0; rounds < 100; rounds++) for (const user of users) reserve.take(user, 1)
    expect(reserve.taken).toBe(30)
    expect(reserve.take('ann', 1)).toBe(true)
  })

  it('gives no more at once than it may, nor more than there is', () => {
    const reserve = new Headroom({ bytes: 4, largest: 3 })
    expect(reserve.take('ann', 4)).toBe(false)
    expect(reserve.take('ann', 3)).toBe(true)
    expect(reserve.take('bob', 2)).toBe(false)
    expect(reserve.taken).toBe(3)
  })

  it('has again what is given back', () => {
    const reserve = new Headroom({ bytes: 8, largest: 2 })
    reserve.take('ann', 2)
    reserve.give('ann', 1)
    expect(reserve.taken).toBe(1)
    reserve.give('ann', 1)
    reserve.give('bob', 0)
    expect(reserve.taken).toBe(0)
    expect(reserve.take('ann', 2)).toBe(true)
  })
})
