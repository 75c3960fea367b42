import { createDownloads } from '../../../src/http/download/downloads.ts'
import { type AddressInfo, connect } from 'node:net'
import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import type { OpenFile } from '../../../src/core/repository.ts'
import { type ReaderSlot, ReaderSlots } from '../../../src/http/server/reader-slots.ts'
import type { PublicUseCases, UserRoutesOptions } from '../../../src/http/public/user-plugin.ts'
import { fileRoutes } from '../../../src/http/public/files/file.ts'

const STRANGER = { isUser: false }

interface Reader extends ReaderSlot {
  bytes: number
  gaveWay: number
}

function reader(owner: string, { isUser = true, size = 1 } = {}): Reader {
  const it: Reader = {
    reader: { owner, isUser },
    size,
    bytes: 0,
    gaveWay: 0,
    progress: () => it.bytes,
    giveWay: () => {
      it.gaveWay += 1
    },
  }
  return it
}

test('a user has at most so many downloads in progress, and another when one has ended', () => {
  const slots = new ReaderSlots({ perOwner: 2, total: 10, counted: 'downloads' })
  const release = slots.take(reader('alice'))
  slots.take(reader('alice'))
  expect(() => slots.take(reader('alice'))).toThrow(
    expect.objectContaining({ code: 'too_many_requests', facts: { retry_after: 5 } }),
  )
  slots.take(reader('bob'))
  release()
  release()
  slots.take(reader('alice'))
  expect(() => slots.take(reader('alice'))).toThrow('maximum of 2')
  expect(slots.isRefusing()).toBe(false)
})

test('the slowest reader gives way when all slots are taken', () => {
  let now = 0
  const slots = new ReaderSlots({ perOwner: 10, total: 3, counted: 'downloads' }, () => now)
  const [fast, slow, slowest] = [reader('a'), reader('b'), reader('c')]
  // What a connection carried for requests before is not this download's.
  slowest.bytes = 10 ** 9
  for (const one of [fast, slow, slowest]) slots.take(one)
  now = 10_000
  fast.bytes = 10 * 64 * 1024
  slow.bytes = 20_000
  slowest.bytes += 13_000
  slots.take(reader('d'))
  expect([fast, slow, slowest].map(({ gaveWay }) => gaveWay)).toEqual([0, 0, 1])
  slots.take(reader('e'))
  expect([fast, slow, slowest].map(({ gaveWay }) => gaveWay)).toEqual([0, 1, 1])
  expect(() => slots.take(reader('f'))).toThrow(expect.objectContaining({ code: 'unavailable' }))
  expect(fast.gaveWay).toBe(0)
})

test('a download is refused if no reader is slow, and a balancer told for a while', () => {
  let now = 0
  const slots = new ReaderSlots({ perOwner: 10, total: 1, counted: 'downloads' }, () => now)
  const young = reader('a')
  slots.take(young)
  now = 4_999
  expect(() => slots.take(reader('b'))).toThrow(expect.objectContaining({ code: 'unavailable' }))
  expect(slots.isRefusing()).toBe(true)
  expect(young.gaveWay).toBe(0)
  now += 5_000
  expect(slots.isRefusing()).toBe(false)
})

test('a large answer ends as many slow ones as it needs room for', () => {
  let now = 0
  const slots = new ReaderSlots({ perOwner: 10, total: 10, counted: 'bytes' }, () => now)
  const waiting = ['a', 'b', 'c', 'd'].map((owner) => reader(owner, { size: 2 }))
  for (const one of waiting) slots.take(one)
  now = 10_000
  slots.take(reader('e', { size: 5 }))
  expect(waiting.map(({ gaveWay }) => gaveWay)).toEqual([1, 1, 0, 0])
})

test('the sizes of an owner count together until they are released', () => {
  const slots = new ReaderSlots({ perOwner: 5, total: 100, counted: 'bytes' })
  const release = slots.take(reader('alice', { size: 3 }))
  slots.take(reader('alice', { size: 2 }))
  expect(() => slots.take(reader('alice'))).toThrow('maximum of 5 bytes')
  release()
  slots.take(reader('alice', { size: 3 }))
})

test('users come before strangers, however young and fast these are', () => {
  let now = 0
  const slots = new ReaderSlots({ perOwner: 10, total: 3, counted: 'downloads' }, () => now)
  const [user, fast, slow] = [
    reader('a'),
    reader('192.0.2.1', STRANGER),
    reader('192.0.2.2', STRANGER),
  ]
  for (const one of [user, fast, slow]) slots.take(one)
  now = 1_000
  user.bytes = 10 ** 6
  fast.bytes = 10 ** 8
  slow.bytes = 10 ** 7
  expect(() => slots.take(reader('192.0.2.3', STRANGER))).toThrow(
    expect.objectContaining({ code: 'unavailable' }),
  )
  slots.take(reader('b'))
  slots.take(reader('c'))
  expect([user, fast, slow].map(({ gaveWay }) => gaveWay)).toEqual([0, 1, 1])
  expect(() => slots.take(reader('d'))).toThrow(expect.objectContaining({ code: 'unavailable' }))
  expect(user.gaveWay).toBe(0)
})

test('a client that leaves before its download begins takes no slot', async () => {
  const slots = new ReaderSlots({ perOwner: 1, total: 1, counted: 'downloads' })
  const isAsked = Promise.withResolvers<void>()
  const isOver = Promise.withResolvers<void>()
  const app = fastify({ exposeHeadRoutes: false })
  onTestFinished(() => app.close())
  // As the verification of an access token, which can take its time.
  app.addHook('onRequest', async (_request, { raw }) => {
    isAsked.resolve()
    await new Promise((resolve) => raw.once('close', resolve))
  })
  app.addHook('onError', async () => isOver.resolve())
  const repository = {
    open: async ({ signal }: OpenFile) => {
      signal.throwIfAborted()
      throw new Error('asked for in vain')
    },
  }
  const { signal } = new AbortController()
  app.decorate('signals', { stopping: signal, shutdown: signal })
  const downloads = { ...createDownloads({ perOwner: 1, total: 1 }), slots }
  const useCases = { repository } as unknown as PublicUseCases
  const options = { useCases, downloads, redirect: undefined } as UserRoutesOptions
  await app.register(fileRoutes, options)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  client.write('GET /users/alice/repo/a HTTP/1.1\r\nHost: a\r\n\r\n')
  await isAsked.promise
  client.destroy()
  await isOver.promise
  expect(() => slots.take(reader('192.0.2.1', STRANGER))).not.toThrow()
})
