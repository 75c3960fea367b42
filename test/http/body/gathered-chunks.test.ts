import { expect, test, vi } from 'vitest'
import { GatheredChunks } from '../../../src/http/body/gathered-chunks.ts'

function gather(): { readonly chunks: GatheredChunks; readonly delivered: Buffer[] } {
  const delivered: Buffer[] = []
  return { chunks: new GatheredChunks((chunk) => delivered.push(chunk)), delivered }
}

const large = Buffer.alloc(64 * 1024, 'x')

test('chunks of one byte are handed on in buffers of 16 KiB', () => {
  const { chunks, delivered } = gather()
  for (let at = 0; at < 100_000; at += 1) chunks.add(Buffer.from([at % 251]))
  chunks.flush()
  expect(delivered.length).toBeLessThan(100_000 / (16 * 1024) + 100)
  const all = Buffer.concat(delivered)
  expect(all).toHaveLength(100_000)
  expect(all.every((byte, at) => byte === at % 251)).toBe(true)
})

test('a large chunk is handed on as it is, after what came before it', () => {
  const { chunks, delivered } = gather()
  for (const chunk of [Buffer.from('a'), Buffer.from('b'), Buffer.from('c'), large]) {
    chunks.add(chunk)
  }
  expect(delivered.map(String).slice(0, 2)).toEqual(['a', 'bc'])
  expect(delivered[2]).toBe(large)
})

test('small chunks of a sender that falls silent are handed on all the same', () => {
  vi.useFakeTimers()
  try {
    const { chunks, delivered } = gather()
    chunks.add(Buffer.from('a'))
    chunks.add(Buffer.from('b'))
    expect(delivered.map(String)).toEqual(['a'])
    vi.advanceTimersByTime(20)
    expect(delivered.map(String)).toEqual(['a', 'b'])
  } finally {
    vi.useRealTimers()
  }
})

test('what waits when a body fails is forgotten', () => {
  const { chunks, delivered } = gather()
  chunks.add(Buffer.from('a'))
  chunks.add(Buffer.from('b'))
  chunks.close()
  chunks.flush()
  expect(delivered.map(String)).toEqual(['a'])
})

test.each([
  ['large', large],
  ['small', Buffer.alloc(4 * 1024 - 1)],
])('a %s chunk is forgotten when those before it make the body fail', (_size, last) => {
  vi.useFakeTimers()
  try {
    const delivered: Buffer[] = []
    const chunks = new GatheredChunks((chunk) => {
      delivered.push(chunk)
      if (delivered.length === 2) chunks.close()
    })
    chunks.add(Buffer.from('a'))
    for (let count = 0; count < 4; count += 1) chunks.add(Buffer.alloc(4 * 1024 - 1))
    chunks.add(last)
    expect(vi.getTimerCount()).toBe(0)
    vi.advanceTimersByTime(20)
    expect(delivered).toHaveLength(2)
  } finally {
    vi.useRealTimers()
  }
})
