import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { onAbort } from '../../../src/core/async/on-abort.ts'

it('calls all who still listen, by one listener of the signal', () => {
  const controller = new AbortController()
  const { signal } = controller
  const called: string[] = []
  const listening = ['a', 'b', 'c'].map((name) => onAbort(signal, () => called.push(name)))
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  listening[1]?.[Symbol.dispose]()
  controller.abort()
  expect(called).toEqual(['a', 'c'])
})

it('leaves nothing behind when nobody listens any more, and can be listened to again', () => {
  const controller = new AbortController()
  const { signal } = controller
  const called: string[] = []
  const first = onAbort(signal, () => called.push('first'))
  for (const _ of [1, 2]) first[Symbol.dispose]()
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  onAbort(signal, () => called.push('second'))
  first[Symbol.dispose]()
  controller.abort()
  expect(called).toEqual(['second'])
})

it('calls who listens after the abort, a little later', async () => {
  let isCalled = false
  using _ = onAbort(AbortSignal.abort(), () => (isCalled = true))
  expect(isCalled).toBe(false)
  await Promise.resolve()
  expect(isCalled).toBe(true)
})
