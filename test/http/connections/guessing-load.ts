import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { FAILED_ATTEMPT_POLICY } from '../../../src/core/auth/failed-attempt-limiter.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { download, expectProblem, type Reply } from '../fixture.ts'

export const INVALID = { status: 403, code: 'access_token_invalid' } as const

/** However slow the machine is, the block must outlast the test. */
export const LONG_BLOCK = {
  failedAttemptPolicy: { ...FAILED_ATTEMPT_POLICY, firstBlockMs: 3_600_000 },
}

/** A cookie with a token that nobody has. */
export function wrong(): { readonly cookie: string } {
  return { cookie: `access_token=crt_${randomBytes(32).toString('base64url')}` }
}

export async function attempt(service: TestService, times: number): Promise<void> {
  for (let failedAttempts = 0; failedAttempts < times; failedAttempts += 1) {
    expectProblem(await download(service, { headers: wrong() }), INVALID)
  }
}

/** Is wrong until the address of the tests is blocked. */
export async function block(service: TestService): Promise<void> {
  await attempt(service, FAILED_ATTEMPT_POLICY.maxFailedAttempts)
}

/** Shows wrong tokens at that rate until it is told to stop; says which statuses came. */
export async function attackAt(
  service: TestService,
  perSecond: number,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const replies: Promise<Reply>[] = []
  while (!signal.aborted) {
    replies.push(download(service, { headers: wrong() }))
    await delay(1000 / perSecond)
  }
  return (await Promise.all(replies)).map(({ status }) => status)
}

/** How long downloads of good clients take, in milliseconds, all of which must succeed. */
export async function timesOfDownloads(
  service: TestService,
  users: readonly TestUser[],
): Promise<readonly number[]> {
  const times: number[] = []
  for (let request = 0; request < 60; request += 1) {
    const user = users[request % users.length]
    const start = performance.now()
    const reply = await download(service, user === undefined ? {} : { user })
    times.push(performance.now() - start)
    expect(reply.status).toBe(200)
  }
  return times
}
