import { afterEach, describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import { faultyStore } from '../../support/faults/faults.ts'
import { buildDocs } from '../../support/http/page.ts'
import { openTestCore } from '../../support/service/test-core.ts'
import {
  startTestService,
  type TestAdapters,
  type TestService,
  type TestServiceOptions,
} from '../../support/service/test-service.ts'

let opened = new AsyncDisposableStack()

afterEach(async () => {
  await opened.disposeAsync()
  opened = new AsyncDisposableStack()
})

describe('readiness', () => {
  it('is given when database and object store answer', async () => {
    const { url } = await open()
    const reply = await fetch(`${url}/readyz`)
    expect(reply.status).toBe(200)
    expect(await reply.json()).toEqual({ status: 'ready', database: 'ok', object_store: 'ok' })
  })

  it('is denied with the name of the part that fails, and returns with it', async () => {
    let isDown = true
    const { url } = await open({}, ({ objects, database }) => ({
      database,
      objects: faultyStore(objects, {
        check: async () => {
          if (isDown) throw new AppError('unavailable', 'The object store is down.')
        },
      }),
    }))
    const refused = await fetch(`${url}/readyz`)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('content-type')).toBe('application/problem+json')
    expect(await refused.json()).toMatchObject({ database: 'ok', object_store: 'failing' })
    isDown = false
    await expect
      .poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 5000, interval: 200 })
      .toBe(200)
  })

  it('is denied with the name of a database whose disk is full, and returns with room', async () => {
    let isFull = true
    const { url } = await open({}, ({ objects, database }) => ({
      objects,
      database: {
        ...database,
        proveWritable: async () => {
          const detail = 'The disk of the database is full.'
          if (isFull) throw new AppError('unavailable', detail, { dependency: 'database', isFull })
        },
      },
    }))
    const refused = await fetch(`${url}/readyz`)
    expect(refused.status).toBe(503)
    expect(await refused.json()).toMatchObject({
      detail: 'The disk of the database is full.',
      database: 'full',
      object_store: 'ok',
    })
    isFull = false
    await expect
      .poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 5000, interval: 200 })
      .toBe(200)
  })

  it('waits for no part that does not answer', async () => {
    const { url } = await open({}, ({ objects, database }) => ({
      database,
      objects: faultyStore(objects, { check: () => new Promise(() => {}) }),
    }))
    expect((await fetch(`${url}/readyz`)).status).toBe(503)
  })
})

describe('liveness', () => {
  it('is given whatever the parts do', async () => {
    const { url } = await open({}, ({ objects, database }) => ({
      database,
      objects: faultyStore(objects, { check: () => Promise.reject(new Error('down')) }),
    }))
    const reply = await fetch(`${url}/livez`)
    expect(reply.status).toBe(200)
    expect(await reply.json()).toEqual({ status: 'live' })
  })
})

describe('livez, readyz, openapi.json and docs', () => {
  it.each(['livez', 'readyz', 'openapi.json', 'docs'])(
    '/%s answers GET and HEAD, and 405',
    async (path) => {
      const { url } = await open(await buildDocs())
      const head = await fetch(`${url}/${path}`, { method: 'HEAD' })
      expect([head.status, await head.text()]).toEqual([200, ''])
      const reply = await fetch(`${url}/${path}`, { method: 'POST' })
      expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    },
  )
})

describe('a base path', () => {
  it('stands before every path, once', async () => {
    const service = await open({ basePath: '/api' })
    const { cookie } = await service.createUser(100)
    const url = `${service.url}/api/users/me/repo/a`
    const body = new FormData()
    body.set('file', new Blob(['content']), 'a')
    expect((await fetch(url, { method: 'POST', headers: { cookie }, body })).status).toBe(200)
    expect(await (await fetch(url, { headers: { cookie } })).text()).toBe('content')
    expect((await fetch(`${service.url}/api/livez`)).status).toBe(200)
    expect((await fetch(`${service.url}/livez`)).status).toBe(404)
    expect((await fetch(`${service.url}/users/me/repo/a`, { headers: { cookie } })).status).toBe(
      404,
    )
  })
})

async function open(
  options: TestServiceOptions = {},
  change: (adapters: TestAdapters) => TestAdapters = (adapters) => adapters,
): Promise<TestService> {
  const core = opened.use(await openTestCore())
  const service = await startTestService(change(core), options)
  opened.defer(() => service.stop())
  return service
}
