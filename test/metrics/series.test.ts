import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPERATIONS } from '../catalogue/api-operations.ts'
import { authorized, EVERY_OPERATION, perform } from '../catalogue/perform.ts'
import { createScene, type OwnScene } from '../catalogue/create-scene.ts'
import { withoutIds } from '../catalogue/scene.ts'
import { ADMIN_TOKEN, send } from '../http/admin/fixture.ts'
import { ask } from '../http/fixture.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import { parseMetrics } from '../support/http/metrics-text.ts'
import type { TestService } from '../support/service/test-service.ts'

const AUTHORIZATION = { authorization: `Bearer ${ADMIN_TOKEN}` }

describe('the number of series', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openEmbedded(EVERY_OPERATION)
  })
  afterAll(() => service.stop())

  const scrape = async (): Promise<string> =>
    (await send(service, { method: 'GET', at: '/metrics', headers: AUTHORIZATION })).body.toString()

  it('stays, whatever paths, methods, users, names and tokens are asked with', async () => {
    const scene = await createScene(service)
    await hammer(service, scene)
    await hammer(service, scene)
    // A scrape counts itself once it is over.
    await scrape()
    const before = seriesOf(await scrape())
    for (let round = 0; round < 2; round++) await hammer(service, scene)
    expect(seriesOf(await scrape())).toEqual(before)
    const methods = before.flatMap((series) => /method="([^"]*)"/.exec(series)?.[1] ?? [])
    expect(new Set(methods)).toEqual(new Set([...KNOWN, 'other']))
    expect(before.length).toBeGreaterThan(200)
  })

  it('says nothing of who asked for what', async () => {
    const { cookie, userId } = await service.createUser(10_000)
    const name = randomUUID()
    for (const path of [`/users/me/repo/${name}`, `/users/${userId}/repo/${name}`, `/${name}`]) {
      await ask(service, { method: 'PUT', path, headers: { cookie }, body: 'content' })
      await ask(service, { method: 'GET', path, headers: { cookie } })
    }
    const text = await scrape()
    for (const secret of [name, userId, cookie.slice(-20)]) expect(text).not.toContain(secret)
  })
})

const KNOWN = ['GET', 'HEAD', 'PUT', 'POST', 'PATCH', 'DELETE', 'OPTIONS']

/** Every operation with names and ids that were never there before, and any method on any path. */
async function hammer(service: TestService, scene: OwnScene): Promise<void> {
  const fresh = withoutIds({ ...scene, userId: randomUUID(), file: randomUUID() })
  for (const { listener, sent } of OPERATIONS) {
    await perform(service, listener, authorized(listener, sent(fresh), fresh))
    await perform(service, listener, authorized(listener, sent(fresh), { token: randomUUID() }))
  }
  const paths = [
    `/users/me/repo/${fresh.file}`,
    `/${fresh.file}/${fresh.userId}`,
    '/users/me/repo/%ff',
  ]
  const methods = [
    ...KNOWN,
    'PROPFIND',
    'QUERY',
    `X${randomBytes(3).toString('hex').toUpperCase()}`,
  ]
  for (const path of paths) {
    for (const method of methods) {
      // Closing ends an answer to HEAD, of which a client without HTTP does not know where that is.
      const headers = { cookie: scene.user.cookie, connection: 'close' }
      await ask(service, { method, path, headers })
    }
  }
}

function seriesOf(text: string): readonly string[] {
  return parseMetrics(text)
    .flatMap(({ series }) => series)
    .toSorted()
}
