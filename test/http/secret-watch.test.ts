import { describe, expect, it } from 'vitest'
import { createWatchedLogger, keepOutOfLogs, takeLeaks } from '../support/runner/secret-watch.ts'

/** What is asked of the logs of every test file: see `test/support/runner/secret-watch.ts`. */
describe('the watch over what services of tests log', () => {
  it.each([
    ['an access token', 'crt_0123456789012345678901234567890123456789abc'],
    ['a part of one', 'crt_0123456789'],
    ['a JWT', 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl'],
    ['what a test calls a secret', 'the token of an administrator'],
  ])('sees %s at any depth of a line', (_what, secret) => {
    keepOutOfLogs('the token of an administrator')
    const logger = createWatchedLogger()
    logger.info({ a: { headers: [`cookie: access_token=${secret}`] } }, 'request finished')
    logger.trace({ err: new Error('outer', { cause: new Error(`bad ${secret}`) }) })
    expect(takeLeaks()).toHaveLength(2)
  })

  it('says nothing of a line without', () => {
    createWatchedLogger().info(
      { user_id: 'alice', code: 'access_token_invalid' },
      'request finished',
    )
    expect(takeLeaks()).toEqual([])
  })
})
