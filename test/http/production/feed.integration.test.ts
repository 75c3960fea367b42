import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  isWithoutProduction,
  openProduction,
  openProductionTwins,
} from '../../support/service/production-service.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { feedSuite } from '../changes/feed-suite.ts'
import { ask, jsonOf, MIB, upload } from '../fixture.ts'

describe.skipIf(isWithoutProduction())('the service on PostgreSQL and MinIO', () => {
  feedSuite(openProduction)
})

describe.skipIf(isWithoutProduction())('two instances on PostgreSQL and MinIO', () => {
  let here: TestService
  let there: TestService
  beforeAll(async () => {
    ;[here, there] = await openProductionTwins()
  })
  afterAll(() => Promise.all([here.stop(), there.stop()]))

  it('I14 a change that one commits ends a wait at the other', async () => {
    const user = await here.createUser(MIB)
    const path = '/users/me/changes'
    const cursor = String(jsonOf(await ask(there, { user, path }))['next_cursor'])
    const waits = `${path}?wait=60&cursor=${cursor}`
    const waiting = ask(there, { user, path: waits, timeoutMs: 15_000 })
    await upload(here, { user, name: 'a', content: 'x' })
    expect(jsonOf(await waiting)).toMatchObject({
      changes: [{ type: 'file.created', name: 'a' }],
    })
  })
})
