import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Client, createClient } from '../../../packages/js/src/client.ts'
import { bytesOf, clientOf, errorOf, openPackage, type PackageFixture } from './fixture.ts'

const opened = new AsyncDisposableStack()
let fixture: PackageFixture
let client: Client
beforeAll(async () => {
  fixture = await openPackage(opened, { historyLifetimeMs: 3_600_000 })
  client = clientOf(fixture.user, fixture.service.url)
})
afterAll(() => opened.disposeAsync())

it('the history lists, downloads, restores and purges what was replaced and deleted', async () => {
  const { files, history } = client
  const contents = ['one', 'two', 'three']
  const versions: string[] = []
  for (const content of contents) {
    versions.push((await files.upload('past', Buffer.from(content))).version)
  }
  await files.delete('past')
  await files.upload('other', Buffer.from('other'))
  await files.delete('other')
  const listed = await Array.fromAsync(history.list({ name: 'past', limit: 2 }))
  expect(listed.map(({ version }) => version)).toEqual(versions.toReversed())
  expect(listed.map(({ ended_as: end }) => end)).toEqual(['deleted', 'replaced', 'replaced'])
  expect(await Array.fromAsync(history.list({ prefix: 'oth' }))).toHaveLength(1)
  const [first = '', second = '', third = ''] = versions
  const { stream, etag } = await history.download(second, { range: { start: 1 } })
  expect(etag).toBe(second)
  expect(Buffer.from(await bytesOf(stream)).toString()).toBe('wo')
  expect(await history.restore(first)).toMatchObject({ name: 'past', version: first })
  const taken = await errorOf(history.restore(second))
  expect(taken).toMatchObject({ code: 'file_exists' })
  const options = { overwrite: true, ifMatch: first }
  expect(await history.restore(second, options)).toMatchObject({ replaced: true })
  await history.purge(third)
  expect(await errorOf(history.download(third))).toMatchObject({ code: 'version_gone' })
  await history.purgeAll()
  expect(await Array.fromAsync(history.list())).toEqual([])
})

it('links are created, listed, changed, renewed and revoked', async () => {
  const { links } = client
  await client.files.upload('report.pdf', Buffer.from('report'))
  const terms = { kind: 'download', name: 'report.pdf', expires_in: 60, max_uses: 3 } as const
  const link = await links.create(terms)
  const visit = () => fetch(`${fixture.service.url}/links/${link.secret}/report.pdf`)
  expect(await (await visit()).text()).toBe('report')
  const [listed] = await Array.fromAsync(links.list())
  expect(listed).toMatchObject({ link_id: link.link_id, uses_left: 2 })
  const changed = await links.update(link.link_id, { label: 'Report', max_uses: null })
  expect(changed).toMatchObject({ label: 'Report', max_uses: null })
  const renewed = await links.renewSecret(link.link_id)
  expect((await visit()).status).toBe(404)
  expect(await (await fetch(`${renewed.url}/report.pdf`)).text()).toBe('report')
  await links.revoke(link.link_id)
  expect((await fetch(renewed.url)).status).toBe(404)
})

it('tokens are created, used, listed and revoked', async () => {
  const { tokens } = client
  const scope = { actions: ['create'], prefix: 'cam-' } as const
  const issued = await tokens.create({ label: 'camera', scope })
  const camera = createClient({ url: fixture.service.url, token: issued.access_token })
  await camera.files.upload('cam-1', Buffer.from('clip'))
  const refused = await errorOf(camera.files.delete('cam-1'))
  expect(refused).toMatchObject({ code: 'scope_insufficient', problem: { required: 'delete' } })
  const labels = (await Array.fromAsync(tokens.list())).map(({ label }) => label)
  expect(labels).toContain('camera')
  await tokens.revoke(issued.token_id)
  const ended = await errorOf(camera.files.upload('cam-2', Buffer.from('clip')))
  expect(ended).toMatchObject({ code: 'access_token_invalid' })
})

it('the capacity is told', async () => {
  const user = await fixture.service.createUser(1000)
  const own = clientOf(user, fixture.service.url)
  await own.files.upload('a', new Uint8Array(300))
  expect(await own.capacity()).toMatchObject({ capacity: 1000, used: 300, available: 700 })
})
