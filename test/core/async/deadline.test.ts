import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import {
  Deadline,
  settledUnlessAborted,
  settledWithin,
  timeoutSignal,
} from '../../../src/core/async/deadline.ts'
import { stall } from '../../support/faults/stall.ts'

describe('a deadline', () => {
  it('is over once its time is, and not before', async () => {
    const begun = performance.now()
    await new Promise<void>((resolve) => void new Deadline(50, resolve))
    expect(performance.now() - begun).toBeGreaterThanOrEqual(49)
  })

  it('lets what has arrived during a stall come first, and be cleared by it', async () => {
    const events: string[] = []
    const deadline = new Deadline(20, () => events.push('late'))
    await arriveInStall(() => {
      events.push('arrived')
      deadline.clear()
    })
    await delay(50)
    expect(events).toEqual(['arrived'])
  })

  it('starts anew when it is refreshed, also in the turn that it leaves for what has arrived', async () => {
    let refreshedAt = Number.POSITIVE_INFINITY
    const late = Promise.withResolvers<number>()
    const deadline = new Deadline(20, () => late.resolve(performance.now()))
    await arriveInStall(() => {
      refreshedAt = performance.now()
      deadline.refresh()
    })
    expect((await late.promise) - refreshedAt).toBeGreaterThanOrEqual(19)
  })

  it('gives up on work at its end, but for work that was done during a stall', async () => {
    const done = Promise.withResolvers<string>()
    const settled = settledWithin(20, done.promise)
    await arriveInStall(() => done.resolve('done'))
    expect(await settled).toBe('done')
    expect(await settledWithin(0, new Promise(() => {}))).toBe(undefined)
    await expect(settledWithin(20, Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  })

  it('gives up on work when a signal aborts, whether before or after it began', async () => {
    const controller = new AbortController()
    const { signal } = controller
    expect(await settledUnlessAborted(Promise.resolve('done'), signal)).toBe('done')
    await expect(settledUnlessAborted(Promise.reject(new Error('broken')), signal)).rejects.toThrow(
      'broken',
    )
    const waiting = settledUnlessAborted(new Promise(() => {}), signal)
    controller.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    await expect(settledUnlessAborted(new Promise(() => {}), signal)).rejects.toThrow('gone')
  })

  it('aborts a signal as AbortSignal.timeout does, but for what has arrived', async () => {
    const signal = timeoutSignal(20)
    let wasAborted: boolean | undefined
    await arriveInStall(() => {
      wasAborted = signal.aborted
    })
    expect(wasAborted).toBe(false)
    await delay(50)
    expect(signal.reason).toMatchObject({ name: 'TimeoutError' })
  })
})

/** Stalls for 50 ms, in which a message arrives; resolves when it has been received. */
async function arriveInStall(onMessage: () => void): Promise<void> {
  const { port1, port2 } = new MessageChannel()
  const received = once(port2, 'message').then(onMessage)
  await stall(50, () => port1.postMessage('there'))
  await received
  port1.close()
}
