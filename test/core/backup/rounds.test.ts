import { expect, it } from 'vitest'
import { copyInRounds } from '../../../src/core/backup/rounds.ts'

function copying(...vanished: readonly number[]) {
  let round = 0
  return async () => {
    round += 1
    return { round, vanished: vanished[round - 1] ?? 1 }
  }
}

it('copies once if no object vanishes', async () => {
  expect(await copyInRounds(copying(0))).toEqual({ round: 1, vanished: 0 })
})

it('copies again while objects vanish', async () => {
  expect(await copyInRounds(copying(7, 2, 0))).toEqual({ round: 3, vanished: 0 })
})

it('gives up after five rounds, and says which setting helps', async () => {
  expect(await copyInRounds(copying(1, 1, 1, 1, 0))).toMatchObject({ round: 5 })
  await expect(copyInRounds(copying())).rejects.toThrow(/5 rounds.*GARBAGE_DELAY/)
})
