import { EventEmitter } from 'node:events'
import { setImmediate as iteration } from 'node:timers/promises'
import fastify, { type FastifyReply } from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { capacityRoutes } from '../../../src/http/public/capacity.ts'
import { listRoutes } from '../../../src/http/public/files/list.ts'
import type { PublicUseCases, UserRoutesOptions } from '../../../src/http/public/user-plugin.ts'
import { uploadViewRoutes } from '../../../src/http/public/uploads/view.ts'
import {
  createListingTurns,
  MAX_WAITING,
  ITERATIONS_BETWEEN,
} from '../../../src/http/public/listing-turns.ts'
import { authorized } from '../../support/caller.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'

type Shares = Parameters<typeof createListingTurns>[0]['shares']

const NO_PAUSES: Shares = {
  pauseOf: () => 0,
  wait: async () => undefined,
  measure: () => () => undefined,
}

const { signal } = new AbortController()
const server = { signals: { stopping: signal, shutdown: signal } }

/** `begun` has the owners whose listings are being read or were, in their order. */
function bed(options: { readonly waitMs?: number; readonly shares?: Shares } = {}) {
  const readInTurn = createListingTurns({ shares: NO_PAUSES, atOnce: 2, ...options })
  const begun: string[] = []
  const reading: ((page: string) => void)[] = []
  return {
    begun,
    /** Resolves to the outcome. */
    ask: (userId: string) => {
      const raw = Object.assign(new EventEmitter(), { destroyed: false, writableFinished: false })
      const reply = {
        raw,
        server,
        request: { subject: { kind: 'user', userId } },
      } as unknown as FastifyReply
      const page = readInTurn(reply, () => {
        begun.push(userId)
        return new Promise<string>((resolve) => reading.push(resolve))
      })
      const code = page.catch((error: unknown) => (error as { readonly code: string }).code)
      return { outcome: code, leave: () => void raw.emit('close') }
    },
    answerOldest: async (): Promise<void> => {
      reading.shift()?.('a page')
      for (let count = 0; count < ITERATIONS_BETWEEN + 2; count += 1) await iteration()
    },
  }
}

it('two listings are read at once, and owners take turns', async () => {
  const { ask, begun, answerOldest } = bed()
  const asked = ['ann', 'ann', 'ann', 'ann', 'bob', 'zed'].map((owner) => ask(owner).outcome)
  await iteration()
  expect(begun).toEqual(['ann', 'ann'])
  await answerOldest()
  expect(begun).toEqual(['ann', 'ann', 'bob'])
  for (let at = 0; at < 5; at += 1) await answerOldest()
  expect(begun).toEqual(['ann', 'ann', 'bob', 'ann', 'zed', 'ann'])
  expect(await Promise.all(asked)).toEqual(asked.map(() => 'a page'))
})

it('an owner who has to pause after a long listing keeps no turn from others', async () => {
  const paused = new Set(['ann'])
  const { promise: over, resolve: end } = Promise.withResolvers<void>()
  const charged: string[] = []
  const { ask, begun, answerOldest } = bed({
    shares: {
      pauseOf: (owner) => (paused.has(owner.replace('user ', '')) ? 5 : 0),
      wait: async () => await over,
      measure: (owner) => () => void charged.push(owner),
    },
  })
  for (const owner of ['ann', 'ann', 'bob', 'zed']) ask(owner)
  for (let count = 0; count < 4; count += 1) await iteration()
  expect(begun).toEqual(['bob', 'zed'])
  await answerOldest()
  expect(charged).toEqual(['user bob'])
  paused.clear()
  end()
  for (let count = 0; count < 4; count += 1) await iteration()
  expect(begun).toEqual(['bob', 'zed', 'ann'])
})

it('the event loop makes many turns between two listings, in each of which it accepts a connection', async () => {
  const { ask, begun, answerOldest } = bed()
  for (const owner of ['ann', 'ann', 'bob']) ask(owner)
  await iteration()
  const answering = answerOldest()
  for (let count = 0; count < 30; count += 1) await iteration()
  expect(begun).toHaveLength(2)
  await answering
  expect(begun).toHaveLength(3)
})

it('an owner with many waiting listings is refused, others are not, and one that leaves makes room', async () => {
  const { ask, begun, answerOldest } = bed()
  const asked = [ask('ann'), ask('ann')]
  // These are read, and wait no more.
  await iteration()
  for (let at = 0; at < MAX_WAITING; at += 1) asked.push(ask('ann'))
  expect(await ask('ann').outcome).toBe('too_many_requests')
  asked[5]?.leave()
  expect(await asked[5]?.outcome).toBe('truncated_body')
  const last = ask('ann')
  expect(await ask('ann').outcome).toBe('too_many_requests')
  const other = ask('bob')
  await answerOldest()
  expect(begun.at(-1)).toBe('bob')
  for (let at = 0; at < asked.length; at += 1) await answerOldest()
  expect(await Promise.all([last.outcome, other.outcome])).toEqual(['a page', 'a page'])
})

it('the listings of files and of unfinished uploads, and capacities, take turns with one another', async () => {
  const app = fastify({ exposeHeadRoutes: false })
  onTestFinished(() => app.close())
  const lists: string[] = []
  const list = (what: string) => () => {
    lists.push(what)
    return new Promise<never>(() => undefined)
  }
  const subject = authorized({ userId: parseUserId('ann'), userCreatedAt: 1 })
  app.decorateRequest('subject')
  app.addHook('onRequest', async (request) => void (request.subject = subject))
  app.decorate('signals', server.signals)
  const readInTurn = createListingTurns({ shares: NO_PAUSES, atOnce: 3 })
  const useCases = {
    repository: { list: list('files'), reportCapacity: list('capacity') },
    uploads: { list: list('uploads') },
    feed: { latest: async () => ({ sequence: 0, at: 0 }) },
  } as unknown as PublicUseCases
  const options = { useCases, readInTurn, limits: { maxFiles: 1 } } as UserRoutesOptions
  for (const routes of [listRoutes, capacityRoutes, uploadViewRoutes]) {
    await app.register(routes, options)
  }
  const urls = ['/users/me/repo', '/users/me/uploads', '/users/me/capacity', '/users/ann/repo']
  for (const url of urls) void app.inject(url).catch(() => undefined)
  for (let count = 0; count < 20; count += 1) await iteration()
  expect(lists.toSorted()).toEqual(['capacity', 'files', 'uploads'])
})

it('a listing that waits too long is refused', async () => {
  const { ask, answerOldest } = bed({ waitMs: 20 })
  const [first] = [ask('ann'), ask('ann')]
  expect(await ask('ann').outcome).toBe('unavailable')
  await answerOldest()
  expect(await first?.outcome).toBe('a page')
})
