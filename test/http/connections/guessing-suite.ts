import { afterEach, describe, expect, it } from 'vitest'
import { FAILED_ATTEMPT_POLICY } from '../../../src/core/auth/failed-attempt-limiter.ts'
import type {
  TestService,
  TestServiceOptions,
  TwinServices,
} from '../../support/service/test-service.ts'
import {
  download,
  expectProblem,
  expectUntouched,
  pathOf,
  placeFile,
  type Reply,
  upload,
} from '../fixture.ts'
import { attackAt, block, INVALID, LONG_BLOCK, timesOfDownloads, wrong } from './guessing-load.ts'

const { maxFailedAttempts } = FAILED_ATTEMPT_POLICY
const TOO_MANY = { status: 429, code: 'too_many_requests' } as const

/** Behind a proxy on the loopback, as all requests of the tests are. */
const PROXIED = { trustedProxies: ['127.0.0.0/8'] }

type OpenTwins = (options?: TestServiceOptions) => Promise<TwinServices>

/** Row C08 of the list of bad input: wrong access tokens, and who else comes from the same address. */
export function guessingSuite(openTwins: OpenTwins): void {
  describe('guessing access tokens', () => {
    let twins: readonly TestService[] = []
    const open = async (options: TestServiceOptions = {}): Promise<TwinServices> => {
      const opened = await openTwins({ failedAttemptPolicy: FAILED_ATTEMPT_POLICY, ...options })
      twins = opened
      return opened
    }
    afterEach(() => Promise.all(twins.map((service) => service.stop())))

    it('C08 is refused with 429 and the time to wait, whatever is asked for', async () => {
      const [service] = await open()
      const placed = await placeFile(service)
      await block(service)
      const headers = wrong()
      const name = 'file.bin'
      expectBlocked(await download(service, { headers }))
      expectBlocked(await download(service, { owner: placed.user.userId, headers }))
      expectBlocked(await download(service, { path: '/users/me/capacity', headers }))
      expectBlocked(await download(service, { method: 'DELETE', headers }))
      expectBlocked(await upload(service, { name, content: 'new', headers }))
      expectBlocked(await upload(service, { name, content: 'new', method: 'PUT', headers }))
      const head = await download(service, { method: 'HEAD', headers })
      expect(head).toMatchObject({ status: 429, body: Buffer.alloc(0) })
      expect(Number(head.headers['retry-after'])).toBeGreaterThan(0)
      await expectUntouched(service, placed)
    })

    it('C08 lets good tokens in, and those who show none', async () => {
      const [service, other] = await open()
      const placed = await placeFile(service)
      const shown = await upload(service, {
        user: placed.user,
        name: 'shown',
        query: '?visibility=public',
        content: 'hello',
      })
      expect(shown.status).toBe(200)
      await block(service)
      await block(other)
      expectBlocked(await download(service, { headers: wrong() }))
      for (const instance of [service, other]) {
        expect((await download(instance, { user: placed.user })).status).toBe(200)
        const path = pathOf('shown', placed.user.userId)
        expect((await download(instance, { path })).status).toBe(200)
        const newcomer = await instance.createUser(100)
        expect((await upload(instance, { user: newcomer, content: 'x' })).status).toBe(200)
      }
    })

    it('C08 at 100 a second refuses nobody else who shares the address', async () => {
      const [service] = await open(LONG_BLOCK)
      const users = [await service.createUser(1000), await service.createUser(1000)]
      for (const user of users) await upload(service, { user, content: 'hello' })
      await block(service)
      const noise = new AbortController()
      const attack = attackAt(service, 100, noise.signal)
      await timesOfDownloads(service, users)
      noise.abort()
      expect(new Set(await attack)).toEqual(new Set([429]))
    })

    it('C08 under forged addresses is counted for the address of the connection', async () => {
      const [service] = await open()
      for (let attempt = 0; attempt < maxFailedAttempts; attempt += 1) {
        const forged = { 'x-forwarded-for': `203.0.113.${attempt}`, forwarded: `for=${attempt}` }
        expectProblem(await download(service, { headers: { ...wrong(), ...forged } }), INVALID)
      }
      const headers = { ...wrong(), 'x-forwarded-for': '203.0.113.99' }
      expectBlocked(await download(service, { headers }))
    })

    it('C08 behind a trusted proxy is counted for the address that the proxy names', async () => {
      const [service] = await open(PROXIED)
      const from = (addresses: string): Promise<Reply> =>
        download(service, { headers: { ...wrong(), 'x-forwarded-for': addresses } })
      for (let attempt = 0; attempt < maxFailedAttempts; attempt += 1) {
        // What stands before the proxy's own entry is the client's invention.
        expectProblem(await from(`198.51.100.${attempt}, 203.0.113.7`), INVALID)
      }
      expectBlocked(await from('203.0.113.7'))
      expectBlocked(await from('192.0.2.1, 203.0.113.7'))
      expectProblem(await from('203.0.113.8'), INVALID)
      expectProblem(await from('198.51.100.1'), INVALID)
    })

    it('C08 behind a trusted proxy that names no address is counted for the connection', async () => {
      const [service] = await open(PROXIED)
      const from = (address: string): Promise<Reply> =>
        download(service, { headers: { ...wrong(), 'x-forwarded-for': address } })
      for (let attempt = 0; attempt < maxFailedAttempts; attempt += 1) {
        expectProblem(await from(attempt % 2 === 0 ? 'unknown' : '"'), INVALID)
      }
      expectBlocked(await from('127.0.0.1'))
      expectProblem(await from('203.0.113.7'), INVALID)
    })
  })
}

/** Asserts that a reply says to wait, in the header as in the document. */
function expectBlocked(reply: Reply): void {
  const { retry_after: seconds } = expectProblem(reply, TOO_MANY)
  expect(reply.headers['retry-after']).toBe(String(seconds))
  expect(seconds).toBeGreaterThan(FAILED_ATTEMPT_POLICY.firstBlockMs / 1000 - 30)
  expect(seconds).toBeLessThanOrEqual(FAILED_ATTEMPT_POLICY.firstBlockMs / 1000)
}
