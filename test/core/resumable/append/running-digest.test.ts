import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { digestOf, DigestState } from '../../../../src/core/objects/content-digest.ts'
import { RunningDigest } from '../../../../src/core/resumable/append/running-digest.ts'

it('has the digests of the content up to any part that an append may have stored, and up to its end', () => {
  const content = randomBytes(1_000)
  const before = new DigestState()
  before.update(content.subarray(0, 50))
  const running = new RunningDigest({ offset: 50, state: before }, 100)
  running.update(content.subarray(50, 470))
  running.update(content.subarray(470, 950))
  for (const offset of [100, 300, 900, 950]) {
    expect([offset, running.at(offset)?.end()]).toEqual([
      offset,
      digestOf(content.subarray(0, offset)),
    ])
  }
  expect(running.at(470)).toBeUndefined()
})
