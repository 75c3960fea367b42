import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { eventually } from '../../support/eventually.ts'
import {
  ask,
  download,
  expectProblem,
  MIB,
  type OpenService,
  startDownload,
  upload,
} from '../fixture.ts'

/** More than the kernel's buffers hold. */
const content = randomBytes(32 * MIB)

export function slowReadersSuite(open: OpenService): void {
  describe.concurrent('slow readers', () => {
    let service: TestService
    let user: TestUser

    beforeAll(async () => {
      service = await open({ idleTimeoutMs: 700 })
      user = await service.createUser(64 * MIB)
      expect((await upload(service, { user, content })).status).toBe(200)
    })

    afterAll(() => service.stop())

    it('H05: loses its connection when it takes nothing more, and never takes a part for the whole', async () => {
      const stalled = await Promise.all(
        Array.from({ length: 20 }, () => startDownload(service, { user })),
      )
      await delay(5_000)
      for (const response of stalled) {
        const { bytes, isComplete } = await readToEnd(response)
        expect(isComplete).toBe(false)
        expect(bytes).toBeLessThan(content.length)
      }
      expect((await download(service, { user })).body.equals(content)).toBe(true)
    })

    it('H05: gets all of it when it goes on taking a little at a time', async () => {
      const response = await startDownload(service, { user })
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > 8 * MIB) return
        response.pause()
        setTimeout(() => response.resume(), 20)
      })
      await new Promise((resolve) => response.once('close', resolve))
      expect({ bytes, isComplete: response.complete }).toEqual({
        bytes: content.length,
        isComplete: true,
      })
    })
  })
}

/** Downloads hold memory, and a connection to the object store. */
export function downloadLimitsSuite(open: OpenService): void {
  describe('limits of downloads', () => {
    let service: TestService
    let alice: TestUser
    let bob: TestUser
    beforeAll(async () => {
      service = await open({
        maxDownloadsPerUser: 2,
        maxDownloads: 3,
        trustedProxies: ['127.0.0.1'],
      })
      alice = await service.createUser(64 * MIB)
      bob = await service.createUser(64 * MIB)
      for (const user of [alice, bob]) {
        expect((await upload(service, { user, content, query: '?visibility=public' })).status).toBe(
          200,
        )
      }
    })
    afterAll(() => service.stop())

    it('counts downloads without a token for the connection when the proxy names no address', async () => {
      const owner = alice.userId
      const unnamed = { owner, headers: { 'x-forwarded-for': 'unknown' } }
      const held = [await startDownload(service, unnamed), await startDownload(service, unnamed)]
      const refused = await download(service, { owner })
      expectProblem(refused, { status: 429, code: 'too_many_requests' })
      await endAll(held)
    })

    it('refuses one more of a user with 429, and of an address without a token', async () => {
      const owner = alice.userId
      for (const reader of [{ user: alice }, { owner }]) {
        const held = [await startDownload(service, reader), await startDownload(service, reader)]
        const refused = await download(service, reader)
        expectProblem(refused, { status: 429, code: 'too_many_requests' })
        expect(refused.headers['retry-after']).toBe('5')
        expect((await download(service, { user: bob })).status).toBe(200)
        await endAll(held)
        await eventually(async () => {
          expect((await download(service, reader)).status).toBe(200)
        })
      }
    })

    it('refuses one more of all with 503, and tells balancers', async () => {
      expect((await ask(service, { path: '/readyz' })).status).toBe(200)
      const held = [
        await startDownload(service, { user: alice }),
        await startDownload(service, { user: alice }),
        await startDownload(service, { user: bob }),
      ]
      expectProblem(await download(service, { user: bob }), { status: 503, code: 'unavailable' })
      expectProblem(await ask(service, { path: '/readyz' }), { status: 503, code: 'unavailable' })
      await endAll(held)
    })
  })
}

async function endAll(responses: readonly IncomingMessage[]): Promise<void> {
  for (const response of responses) {
    response.on('error', () => undefined)
    response.destroy()
    if (!response.closed) await new Promise((resolve) => response.once('close', resolve))
  }
}

async function readToEnd(
  response: IncomingMessage,
): Promise<{ bytes: number; isComplete: boolean }> {
  let bytes = 0
  response.on('error', () => undefined)
  response.on('data', (chunk: Buffer) => (bytes += chunk.length))
  if (!response.closed) await new Promise((resolve) => response.once('close', resolve))
  return { bytes, isComplete: response.complete }
}
