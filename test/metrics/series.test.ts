import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_OPTIONS, ADMIN_TOKEN, send } from '../http/admin/fixture.ts'
import { ask } from '../http/fixture.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import { parseMetrics } from '../support/http/metrics-text.ts'
import type { TestService } from '../support/service/test-service.ts'

const AUTHORIZATION = { authorization: `Bearer ${ADMIN_TOKEN}` }

describe('the number of series', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openEmbedded(ADMIN_OPTIONS)
  })
  afterAll(() => service.stop())

  const scrape = async (): Promise<string> =>
    (await send(service, { method: 'GET', at: '/metrics', headers: AUTHORIZATION })).body.toString()

  it('stays, whatever paths, methods, users, names and tokens are asked with', async () => {
    const { cookie } = await service.createUser(10_000)
    await hammer(service, cookie)
    await hammer(service, cookie)
    // A scrape counts itself once it is over.
    await scrape()
    const before = seriesOf(await scrape())
    for (let round = 0; round < 5; round++) await hammer(service, cookie)
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

/** Of everything something that was never there before. */
async function hammer(service: TestService, cookie: string): Promise<void> {
  const [user, name] = [randomUUID(), randomUUID()]
  const paths = [
    `/users/me/repo/${name}`,
    `/users/${user}/repo/${name}`,
    `/users/${user}/repo?prefix=${name}`,
    '/users/me/capacity',
    `/users/me/batch?${name}`,
    `/session?${name}`,
    `/users/me/access-tokens/${name}`,
    `/users/${user}`,
    `/${name}/${user}`,
    `/users/me/repo/%ff${name}`,
    '/livez',
  ]
  const methods = [...KNOWN, 'PROPFIND', 'QUERY']
  for (const path of paths) {
    for (const method of [...methods, `X${randomBytes(3).toString('hex').toUpperCase()}`]) {
      // Closing ends an answer to HEAD, of which a client without HTTP does not know where that is.
      await ask(service, { method, path, headers: { cookie, connection: 'close' } })
    }
    await ask(service, { method: 'GET', path, headers: { cookie: `access_token=${name}` } })
  }
  await send(service, { method: 'GET', at: `/admin/users/${user}`, headers: AUTHORIZATION })
  await send(service, { method: 'PUT', at: `/admin/users/${user}/devices/${name}` })
  await send(service, { method: 'DELETE', at: `/admin/users/${user}/files/${name}` })
  await send(service, { method: 'GET', at: '/admin/overview' })
}

function seriesOf(text: string): readonly string[] {
  return parseMetrics(text)
    .flatMap(({ series }) => series)
    .toSorted()
}
