import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import { faultyStore, outage } from '../../support/faults/faults.ts'
import { openTestCore, type TestCore } from '../../support/service/test-core.ts'
import { startTestService, type TestService } from '../../support/service/test-service.ts'
import { download, expectProblem, type Placed, placeFile } from '../fixture.ts'

describe('while the object store fails every call', () => {
  let core: TestCore
  let service: TestService
  let placed: Placed

  beforeAll(async () => {
    core = await openTestCore()
    const faults: Partial<ObjectStore> = {}
    const objects = faultyStore(core.objects, {
      open: (object) => (faults.open ?? core.objects.open.bind(core.objects))(object),
      head: (object) => (faults.head ?? core.objects.head.bind(core.objects))(object),
    })
    service = await startTestService({ database: core.database, objects })
    placed = await placeFile(service)
    faults.open = () => Promise.reject(outage())
    faults.head = () => Promise.reject(outage())
  })
  afterAll(async () => {
    await service.stop()
    await core[Symbol.asyncDispose]()
  })

  const ask = (method: string, headers = {}) =>
    download(service, { user: placed.user, method, headers })

  it('GET is refused with 503', async () => {
    expectProblem(await ask('GET'), { status: 503, code: 'unavailable' })
  })

  it('HEAD answers all the same, from the database', async () => {
    const want = { 'want-repr-digest': 'sha-256=1', range: 'bytes=0-0' }
    expect(await ask('HEAD', want)).toMatchObject({
      status: 200,
      headers: {
        'content-length': '1000',
        'accept-ranges': 'bytes',
        etag: placed.etag,
        'repr-digest': expect.stringMatching(/^sha-256=:.{44}:$/) as string,
      },
    })
  })

  it.each(['GET', 'HEAD'])('%s answers what needs no content: 304 and 412', async (method) => {
    expect((await ask(method, { 'if-none-match': placed.etag })).status).toBe(304)
    expect((await ask(method, { 'if-match': '"other"' })).status).toBe(412)
  })

  it('GET answers 416', async () => {
    expect((await ask('GET', { range: 'bytes=1000-' })).status).toBe(416)
  })
})
