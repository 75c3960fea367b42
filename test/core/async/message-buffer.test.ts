import { describe, expect, it } from 'vitest'
import { MessageBuffer } from '../../../src/core/async/message-buffer.ts'

describe('what is added to a buffer', () => {
  it('hands over what one iteration of the event loop brings together and in order, later messages apart', async () => {
    const taken: (readonly number[])[] = []
    const buffer = new MessageBuffer<number>((items) => taken.push(items))
    for (const item of [1, 2, 3]) buffer.add(item)
    await Promise.resolve().then(() => buffer.add(4))
    expect(taken).toEqual([])
    await new Promise(setImmediate)
    buffer.add(5)
    await new Promise(setImmediate)
    expect(taken).toEqual([[1, 2, 3, 4], [5]])
  })

  it('is handed over when it is flushed, once, and when there is something alone', async () => {
    const taken: (readonly number[])[] = []
    const buffer = new MessageBuffer<number>((items) => taken.push(items))
    buffer.flush()
    buffer.add(1)
    buffer.flush()
    await new Promise(setImmediate)
    expect(taken).toEqual([[1]])
  })

  it('what is added while the buffer is handed over waits for the next time', async () => {
    const taken: (readonly number[])[] = []
    const buffer = new MessageBuffer<number>((items) => {
      taken.push(items)
      if (items.includes(1)) buffer.add(2)
    })
    buffer.add(1)
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    expect(taken).toEqual([[1], [2]])
  })

  it('is handed over in the moment that is asked for', async () => {
    const taken: (readonly number[])[] = []
    const buffer = new MessageBuffer<number>(
      (items) => taken.push(items),
      (flush) => process.nextTick(flush),
    )
    buffer.add(1)
    buffer.add(2)
    await Promise.resolve()
    await new Promise<void>((resolve) => process.nextTick(resolve))
    expect(taken).toEqual([[1, 2]])
  })
})
