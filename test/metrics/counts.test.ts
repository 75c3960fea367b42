import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { AppError } from '../../src/core/errors.ts'
import { ADMIN_OPTIONS, ADMIN_TOKEN, send } from '../http/admin/fixture.ts'
import { ask, download, expectProblem, MIB, pauseUpload, upload } from '../http/fixture.ts'
import { append, appended, createUpload, offsetOf } from '../http/resumable/tus-requests.ts'
import { faultyStore } from '../support/faults/faults.ts'
import { sampleOf } from '../support/http/metrics-text.ts'
import { openTestCore } from '../support/service/test-core.ts'
import {
  startTestService,
  type TestAdapters,
  type TestService,
} from '../support/service/test-service.ts'

const AUTHORIZATION = { authorization: `Bearer ${ADMIN_TOKEN}` }
const UPLOADED = 'cloud_repository_uploaded_bytes_total'
const FORM = 'listener="public",method="POST",route="/users/me/repo/*"'
const DOWNLOAD = 'listener="public",method="GET",route="/users/:user_id/repo/*"'

let opened = new AsyncDisposableStack()

afterEach(async () => {
  await opened.disposeAsync()
  opened = new AsyncDisposableStack()
})

describe('metrics of uploads and downloads', () => {
  it('count bytes by route, heads and a little form included, and what became files', async () => {
    const service = await open()
    const user = await service.createUser(4 * MIB)
    const content = randomBytes(MIB)
    await upload(service, { user, content })
    await upload(service, { user, content })
    await download(service, { user })
    const text = await scrape(service)
    expect(sampleOf(text, UPLOADED)).toBe(2 * MIB)
    expectAbout(sampleOf(text, `cloud_repository_received_bytes_total{${FORM}}`), 2 * MIB)
    expectAbout(sampleOf(text, `cloud_repository_sent_bytes_total{${DOWNLOAD}}`), MIB)
    const answered = `cloud_repository_requests_total{${FORM},status="200"}`
    expect(sampleOf(text, answered)).toBe(2)
    expect(sampleOf(text, `cloud_repository_request_seconds_count{${FORM}}`)).toBe(2)
    for (const operation of ['begin', 'commit']) {
      const calls = `cloud_repository_database_call_seconds_count{operation="${operation}"}`
      expect(sampleOf(text, calls)).toBe(2)
    }
    const put = 'cloud_repository_object_store_call_seconds_count{operation="put"}'
    expect(sampleOf(text, put)).toBe(2)
  })

  it('count a resumable upload as the whole file, once it is stored', async () => {
    const service = await open()
    const user = await service.createUser(MIB)
    const uploaded = async () => sampleOf(await scrape(service), UPLOADED)
    const resumable = await createUpload(service, { user, length: 9 })
    await appended(service, resumable, { body: 'four' })
    expect(await uploaded()).toBe(0)
    await appended(service, resumable, { offset: 4, body: 'later' })
    await append(service, resumable, { offset: 9 })
    expect(await offsetOf(service, resumable)).toBe(9)
    expect(await uploaded()).toBe(9)
  })

  it('show an upload under way with what has come of it and what it reserves', async () => {
    const service = await open()
    const user = await service.createUser(4 * MIB)
    const paused = await pauseUpload(service, { user, content: randomBytes(2 * MIB) })
    const received = `cloud_repository_received_bytes_total{${FORM}}`
    const half = async () => sampleOf(await scrape(service), received)
    await expect.poll(half).toBeGreaterThanOrEqual(MIB)
    const text = await scrape(service)
    expectAbout(sampleOf(text, received), MIB)
    expect(sampleOf(text, 'cloud_repository_uploads_running')).toBe(1)
    expect(sampleOf(text, `cloud_repository_requests_running{${FORM}}`)).toBe(1)
    expect(sampleOf(text, 'cloud_repository_reservations')).toBe(1)
    expect(sampleOf(text, 'cloud_repository_reserved_bytes')).toBe(2 * MIB)
    expect(sampleOf(text, 'cloud_repository_upload_memory_taken_bytes')).toBeGreaterThan(0)
    paused.resume()
    expect((await paused.reply).status).toBe(200)
    const after = await scrape(service)
    expectAbout(sampleOf(after, received), 2 * MIB)
    for (const name of ['uploads_running', 'reservations', 'reserved_bytes'])
      expect(sampleOf(after, `cloud_repository_${name}`)).toBe(0)
    expect(sampleOf(after, `cloud_repository_requests_running{${FORM}}`) ?? 0).toBe(0)
  })
})

describe('metrics of refusals and failures', () => {
  it('count refusals by code, of the parser and the router too', async () => {
    const service = await open()
    const user = await service.createUser(10)
    const refused = await upload(service, { user, content: Buffer.alloc(1011) })
    expectProblem(refused, { status: 403, code: 'capacity_exceeded' })
    await ask(service, { method: 'GET', path: '/users/me/repo/%ff' })
    await ask(service, { method: 'BAD METHOD', path: '/' })
    const text = await scrape(service)
    for (const code of ['capacity_exceeded', 'invalid_file_name', 'format_error'])
      expect(sampleOf(text, `cloud_repository_refusals_total{code="${code}"}`)).toBe(1)
    expect(sampleOf(text, 'cloud_repository_refusals_total{code="unavailable"}')).toBe(0)
    const parser = 'listener="public",method="other",route="none",status="400"'
    expect(sampleOf(text, `cloud_repository_requests_total{${parser}}`)).toBe(1)
  })

  it('count what the object store failed, and not what its clients broke off', async () => {
    const service = await open(({ database, objects }) => ({
      database,
      objects: faultyStore(objects, {
        open: () => Promise.reject(new AppError('unavailable', 'Down.', { cause: new Error() })),
      }),
    }))
    const user = await service.createUser(4 * MIB)
    await upload(service, { user, content: 'content' })
    expectProblem(await download(service, { user }), { status: 503, code: 'unavailable' })
    await ask(service, {
      method: 'PUT',
      path: '/users/me/repo/cut',
      headers: { cookie: user.cookie, 'content-length': '1000' },
      body: 'cut off',
      timeoutMs: 500,
    }).catch(() => undefined)
    await expect
      .poll(async () => sampleOf(await scrape(service), 'cloud_repository_uploads_running'))
      .toBe(0)
    const text = await scrape(service)
    const errors = (operation: string) =>
      sampleOf(text, `cloud_repository_object_store_errors_total{operation="${operation}"}`)
    expect(errors('open')).toBe(1)
    expect(errors('put')).toBeUndefined()
  })

  it('tell that a file has lost its content', async () => {
    const service = await open()
    const user = await service.createUser(100)
    await upload(service, { user, content: 'content' })
    const lost = 'cloud_repository_lost_contents_total'
    expect(sampleOf(await scrape(service), lost)).toBe(0)
    const listing = service.objects.list({
      prefix: `users/${user.userId}/`,
      signal: AbortSignal.timeout(1000),
    })
    for await (const { key } of listing)
      await service.objects.remove({ key, signal: AbortSignal.timeout(1000) })
    expectProblem(await download(service, { user }), { status: 503, code: 'unavailable' })
    expect(sampleOf(await scrape(service), lost)).toBe(1)
  })
})

async function open(
  change: (adapters: TestAdapters) => TestAdapters = (adapters) => adapters,
): Promise<TestService> {
  const core = opened.use(await openTestCore())
  const service = await startTestService(change(core), ADMIN_OPTIONS)
  opened.defer(() => service.stop())
  return service
}

async function scrape(service: TestService): Promise<string> {
  const reply = await send(service, { method: 'GET', at: '/metrics', headers: AUTHORIZATION })
  return reply.body.toString()
}

/** A head and the form's own lines are less than 2 KiB. */
function expectAbout(bytes: number | undefined, content: number): void {
  expect(bytes).toBeGreaterThanOrEqual(content)
  expect(bytes).toBeLessThan(content + 4096)
}
