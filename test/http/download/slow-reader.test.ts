import { EventEmitter } from 'node:events'
import type { FastifyReply } from 'fastify'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { watchSlowReader } from '../../../src/http/download/slow-reader.ts'

const KIB = 1024
const idleTimeoutMs = 60_000

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** A reader who takes so much of a write of 512 KiB that is under way all the while; the kernel of a test takes it at once. */
function readerOf(bytesPerSecond: number) {
  const handle = { bytesWritten: 512 * KIB, writeQueueSize: 512 * KIB }
  const socket = { bytesWritten: 512 * KIB, writableLength: 512 * KIB, _handle: handle }
  const raw = Object.assign(new EventEmitter(), { socket, destroy: vi.fn<() => void>() })
  watchSlowReader({ raw, request: {} } as unknown as FastifyReply, { idleTimeoutMs })
  const timer = setInterval(() => (handle.writeQueueSize -= bytesPerSecond), 1000)
  return { raw, end: () => clearInterval(timer) }
}

it('keeps a reader who takes 2 KiB/s of one large write', () => {
  const { raw, end } = readerOf(2 * KIB)
  vi.advanceTimersByTime(250_000)
  expect(raw.destroy).not.toHaveBeenCalled()
  end()
})

it.each([0, KIB / 2])('ends the connection of one who takes %d bytes/s of it', (bytes) => {
  const { raw, end } = readerOf(bytes)
  vi.advanceTimersByTime(250_000)
  expect(raw.destroy).toHaveBeenCalledOnce()
  end()
})
