import fastify from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { batchRoutes } from '../../../src/http/public/files/batch.ts'
import type { LoopShares } from '../../../src/http/public/loop-shares.ts'
import type { PublicUseCases, UserRoutesOptions } from '../../../src/http/public/user-plugin.ts'
import { authorized } from '../../support/caller.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'

/** More than all users together may have. */
const PAUSED = 20

it('users who have to pause keep no batch from others', async () => {
  const app = fastify({ ajv: { customOptions: { discriminator: true } } })
  onTestFinished(() => app.close())
  const waiting: string[] = []
  const shares = {
    wait: async (owner: string) => {
      if (!owner.startsWith('user paused')) return
      waiting.push(owner)
      await new Promise<never>(() => undefined)
    },
    measure: () => () => undefined,
  } as unknown as LoopShares
  const usage = { capacity: 1, used: 0, reserved: 0, fileCount: 0 }
  const useCases = {
    repository: { changeAll: async () => ({ files: [undefined], usage }) },
  } as unknown as PublicUseCases
  app.decorateRequest('subject')
  app.addHook('onRequest', async (request) => {
    const userId = parseUserId(String(request.headers['x-user']))
    request.subject = authorized({ userId, userCreatedAt: 1 })
  })
  const { signal } = new AbortController()
  app.decorate('signals', { stopping: signal, shutdown: signal })
  await app.register(batchRoutes, { useCases, shares } as UserRoutesOptions)
  await app.ready()
  const ask = (user: string) =>
    app.inject({
      method: 'POST',
      url: '/users/me/batch',
      headers: { 'x-user': user },
      payload: { operations: [{ op: 'delete', name: 'a', ignore_missing: true }] },
    })
  for (let at = 0; at < PAUSED; at += 1) void ask(`paused-${at}`).catch(() => undefined)
  await expect.poll(() => waiting).toHaveLength(PAUSED)
  expect((await ask('bob')).statusCode).toBe(200)
})
