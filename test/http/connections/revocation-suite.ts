import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type {
  TestService,
  TestServiceOptions,
  TestUser,
} from '../../support/service/test-service.ts'
import { download, expectProblem, expectUntouched, pauseUpload, placeFile } from '../fixture.ts'

/** What the service promises, in milliseconds. */
const IN_FORCE_WITHIN_MS = 5_000

/** For the machine: a request takes its time, and so does the one before it. */
const MARGIN_MS = 1_000

type OpenTwins = (options: TestServiceOptions) => Promise<readonly [TestService, TestService]>

/**
 * A token is revoked, a user suspended or deleted through one instance of two that both know the token. Most of the time
 * is waiting, so the tests wait together.
 */
export function revocationSuite(openTwins: OpenTwins): void {
  describe.concurrent('what one instance takes back', () => {
    let here: TestService
    let there: TestService
    beforeAll(async () => {
      ;[here, there] = await openTwins({ tokenCacheMs: IN_FORCE_WITHIN_MS })
    })
    afterAll(() => Promise.all([here.stop(), there.stop()]))

    /** How long after `takeBack` began the other instance still took the token, in milliseconds. */
    async function measure(takeBack: (user: TestUser) => Promise<void>, code: string) {
      const { user } = await placeFile(here)
      // Read as late as can be, so that the answer is kept as long as can be.
      expect((await download(there, { user })).status).toBe(200)
      expect((await download(here, { user })).status).toBe(200)
      const start = performance.now()
      await takeBack(user)
      const refusal = await download(here, { user })
      expect(refusal.status).toBe(403)
      expect(refusal.body.toString()).toContain(code)
      let passed = 0
      // A deleted user's files are gone at once, which is 404 until the token is known to be invalid.
      while ((await download(there, { user })).status !== 403) {
        passed = performance.now() - start
        if (passed > 2 * IN_FORCE_WITHIN_MS) break
        await delay(20)
      }
      expect((await download(there, { user })).body.toString()).toContain(code)
      return passed
    }

    it('is refused there at once, and on the other within 5 s, and stays so', async () => {
      const passed = await Promise.all([
        measure(async ({ userId }) => {
          const [token] = await here.accessTokens.list(userId)
          await here.accessTokens.revoke({ userId, tokenId: token?.tokenId ?? '' })
        }, 'access_token_invalid'),
        measure(async ({ userId }) => {
          await here.users.setUserStatus(userId, 'suspended')
          here.accessTokens.forgetUser(userId)
        }, 'user_suspended'),
        measure(async ({ userId }) => {
          await here.users.deleteUser(userId)
          here.accessTokens.forgetUser(userId)
        }, 'access_token_invalid'),
      ])
      for (const ms of passed) expect(ms).toBeLessThan(IN_FORCE_WITHIN_MS + MARGIN_MS)
    })

    it('ends an upload that has begun there, within 5 s', async () => {
      const placed = await placeFile(here)
      const { userId } = placed.user
      const { secret, tokenId } = await here.accessTokens.issue({
        userId,
        label: 'lost',
        expiresInSeconds: undefined,
      })
      const user = { userId, cookie: `access_token=${secret}` }
      const paused = await pauseUpload(there, { user, content: randomBytes(500_000) })
      await here.accessTokens.revoke({ userId, tokenId })
      await delay(IN_FORCE_WITHIN_MS)
      paused.resume()
      expectProblem(await paused.reply, { status: 403, code: 'access_token_invalid' })
      await expectUntouched(here, { ...placed, calls: 0 })
    })

    it('is refused on both when its time is over, however fresh it is remembered', async () => {
      const { user } = await placeFile(here)
      const { userId } = user
      const label = randomUUID()
      const { secret } = await here.accessTokens.issue({ userId, label, expiresInSeconds: 1 })
      const headers = { cookie: `access_token=${secret}` }
      const start = performance.now()
      for (const service of [here, there]) await download(service, { headers })
      await delay(1_001 - (performance.now() - start))
      for (const service of [here, there]) {
        expect((await download(service, { headers })).status).toBe(403)
      }
    })
  })
}
