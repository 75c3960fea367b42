import { afterAll, beforeAll, expect, it } from 'vitest'
import { createAdminClient } from '../../../packages/js/src/admin.ts'
import { createClient } from '../../../packages/js/src/client.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { bytesOf, errorOf, IMPATIENT } from './fixture.ts'

const ADMIN_TOKEN = 'the-admin-token-of-the-package-tests'
const NAME = 'photos/2026/a b.jpg'

let service: TestService
beforeAll(async () => {
  service = await openEmbedded({ adminToken: ADMIN_TOKEN, historyLifetimeMs: 3_600_000 })
})
afterAll(() => service?.stop())

it('the admin client manages users, and what belongs to them', async () => {
  const url = `http://127.0.0.1:${service.adminPort}`
  const admin = createAdminClient({ url, token: ADMIN_TOKEN, retry: IMPATIENT })
  expect(await admin.users.put('ann')).toMatchObject({ user_id: 'ann', status: 'active' })
  const { user_id: generated } = await admin.users.create()
  expect(await admin.users.get(generated)).toMatchObject({ user_id: generated })
  const listed = await Array.fromAsync(admin.users.list({ prefix: 'ann' }))
  expect(listed.map((user) => user.user_id)).toEqual(['ann'])
  const ann = admin.user('ann')
  const grant = { source: 'promotion', reference: 'spring' }
  expect(await ann.grants.put(grant, { bytes: 1000 })).toMatchObject({ ...grant, bytes: 1000 })
  await ann.devices.put('camera-1', { bytes: 500 })
  const devices = await Array.fromAsync(ann.devices.list())
  expect(devices).toEqual([expect.objectContaining({ device_id: 'camera-1' })])
  const issued = await ann.tokens.create({ label: 'phone' })
  const own = createClient({ url: service.url, token: issued.access_token })
  expect(await own.capacity()).toMatchObject({ capacity: 1500 })
  const { version } = await own.files.upload(NAME, Buffer.from('a'))
  await own.files.delete(NAME)
  expect(await Array.fromAsync(ann.history.list({ prefix: 'photos/' }))).toHaveLength(1)
  expect(await ann.history.restore(version)).toMatchObject({ name: NAME, version })
  const { stream, size } = await ann.archive({ names: [NAME] })
  expect(await bytesOf(stream)).toHaveLength(size)
  expect(await Array.fromAsync(ann.uploads.list())).toEqual([])
  expect(await Array.fromAsync(ann.files.list({ order: '-size' }))).toMatchObject([{ name: NAME }])
  expect(await admin.overview()).toMatchObject({ files: 1, largest: [{ user_id: 'ann' }] })
  await ann.files.delete(NAME)
  expect(await errorOf(ann.files.delete(NAME))).toMatchObject({ code: 'not_found' })
  expect(await errorOf(ann.files.delete('a/../b'))).toMatchObject({ code: 'invalid_file_name' })
  const { link_id } = await own.links.create({ kind: 'drop', prefix: 'in-' })
  expect(await Array.fromAsync(ann.links.list())).toMatchObject([{ link_id, prefix: 'in-' }])
  expect(await ann.links.update(link_id, { label: 'In' })).toMatchObject({ label: 'In' })
  await ann.links.revoke(link_id)
  expect(await errorOf(ann.links.revoke(link_id))).toMatchObject({ code: 'not_found' })
  await ann.devices.delete('camera-1')
  await ann.grants.revoke(grant)
  expect((await Array.fromAsync(ann.grants.list())).map(({ source }) => source)).not.toContain(
    'promotion',
  )
  await ann.tokens.revoke(issued.token_id)
  expect(await errorOf(own.capacity())).toMatchObject({ code: 'access_token_invalid' })
  expect(await admin.users.setStatus('ann', 'suspended')).toMatchObject({ status: 'suspended' })
  await admin.users.delete('ann')
  // Its files are still to be purged.
  expect(await errorOf(admin.users.put('ann'))).toMatchObject({ code: 'user_exists' })
  expect(await Array.fromAsync(admin.webhooks.list())).toEqual([])
  expect(await errorOf(admin.webhooks.retry('msg_none'))).toMatchObject({
    code: 'invalid_parameter',
  })
  const [newest] = await Array.fromAsync(admin.audit.list({ userId: 'ann', limit: 5 }))
  expect(newest).toMatchObject({ action: 'user.delete', user_id: 'ann' })
  const { token } = await admin.operators.add('dana', 'support')
  const dana = createAdminClient({ url, token })
  expect(await dana.session()).toEqual({ operator: 'dana', role: 'support' })
  const forbidden = await errorOf(dana.users.create())
  expect(forbidden).toMatchObject({ code: 'operator_forbidden', problem: { required: 'admin' } })
  expect(await Array.fromAsync(admin.operators.list())).toMatchObject([{ name: 'dana' }])
  expect(await admin.operators.get('dana')).toMatchObject({ role: 'support' })
  await admin.operators.remove('dana')
  expect(await errorOf(dana.session())).toMatchObject({ code: 'unauthorized' })
  expect(await Array.fromAsync(admin.audit.list({ operator: 'dana' }))).toEqual([])
  const wrong = createAdminClient({ url, token: 'wrong' })
  expect(await errorOf(wrong.users.get('a'))).toMatchObject({ code: 'unauthorized' })
})
