import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Readable } from 'node:stream'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { discardBody, type ObjectStore } from '../../../src/core/objects/object-store.ts'
import { AppError } from '../../../src/core/errors.ts'
import { createMemoryStore } from '../../support/memory-store.ts'
import { storeError } from '../../../src/object-store/store-error.ts'
import { faultyStore } from '../../support/faults/faults.ts'
import { createFolder } from '../../support/servers/local-server.ts'
import { openMigrated } from '../../support/service/migrated-file.ts'
import { rawRequest } from '../../support/http/raw-http.ts'
import {
  startTestService,
  type TestService,
  type TestUser,
} from '../../support/service/test-service.ts'
import { bodyOf, download, headOf, MIB, pathOf, startDownload, upload } from '../fixture.ts'
import {
  base64,
  beginAppend,
  cancel,
  createUpload,
  headText,
  OFFSET_TYPE,
  offsetOf,
  POLL,
  stateOf,
  TUS,
} from '../resumable/tus-requests.ts'

type Line = Readonly<Record<string, unknown>>

/** More than the kernel's buffers hold. */
const LARGE = 32 * MIB

describe('the log of how requests end', () => {
  let opened: AsyncDisposableStack
  let lines: Line[]
  let shutdown: AbortController
  beforeEach(() => {
    opened = new AsyncDisposableStack()
    lines = []
    shutdown = new AbortController()
  })
  afterEach(() => opened.disposeAsync())

  /** A service on SQLite, and on a store that fails as `faultsOf` has it, with a user who has room. */
  async function start(
    faultsOf: (store: ObjectStore) => Partial<ObjectStore> = () => ({}),
  ): Promise<{ service: TestService; user: TestUser }> {
    const folder = await createFolder('service')
    opened.defer(() => folder.remove())
    const database = await openMigrated({ file: `${folder.path}/test.db` })
    opened.defer(() => database.close())
    const store = createMemoryStore()
    const objects = faultyStore(store, faultsOf(store))
    const write = (line: string): void => void lines.push(JSON.parse(line) as Line)
    const logger = pino({}, { write })
    const options = { logger, shutdown: shutdown.signal, idleTimeoutMs: 700 }
    const service = await startTestService({ database, objects }, options)
    opened.defer(() => service.stop())
    return { service, user: await service.createUser(2 * LARGE) }
  }

  /** The line of the last request of this method for a file, or for another end of the route. */
  async function lineOf(method: string, route = '/*'): Promise<Line> {
    const isMeant = (line: Line) =>
      line['method'] === method && String(line['route']).endsWith(route)
    const find = () => lines.filter(isMeant)
    await expect.poll(find, { timeout: 10_000 }).not.toEqual([])
    return find().at(-1) ?? {}
  }

  it('counts what the connection carried for the request, one after the other', async () => {
    const { service, user } = await start()
    const content = Buffer.alloc(100_000, 'a')
    const headers = { Connection: 'keep-alive' }
    const head = headOf({ user, method: 'PUT', headers, length: content.length })
    const get = `GET ${pathOf('file.bin')} HTTP/1.1\r\nHost: a\r\nCookie: ${user.cookie}\r\n\r\n`
    const send = [head, content, { answers: 1 }, get]
    const { all, received } = await rawRequest({ port: service.port, send, responses: 2 })
    expect(all.map(({ status }) => status)).toEqual([200, 200])
    const [put, got] = [await lineOf('PUT'), await lineOf('GET')]
    expect(put).toMatchObject({ status: 200, code: null, aborted_by: null })
    expect(put).toMatchObject({ bytes_in: head.length + content.length, user_id: user.userId })
    expect(got).toMatchObject({ status: 200, aborted_by: null, bytes_in: get.length })
    expect(got['bytes_out']).toBeGreaterThan(content.length)
    expect(Number(put['bytes_out']) + Number(got['bytes_out'])).toBe(received.length)
  })

  it('has no one who broke off a request that is refused', async () => {
    const { service, user } = await start()
    await upload(service, { user, content: 'x', headers: { 'If-Match': '"other"' } })
    const refused = { status: 412, code: 'precondition_failed', aborted_by: null }
    expect(await lineOf('POST')).toMatchObject(refused)
  })

  it('says that the client left in the middle of its upload, and after how many bytes', async () => {
    const { service, user } = await start()
    const body = bodyOf(Buffer.alloc(MIB, 'a'))
    const head = headOf({ user, length: body.length })
    const part = body.subarray(0, 50_000)
    const send = [head, part, { pauseMs: 300 }]
    await rawRequest({ port: service.port, send, afterwards: 'reset' })
    const left = { status: 499, aborted_by: 'client', bytes_out: 0, user_id: user.userId }
    expect(await lineOf('POST')).toMatchObject({ ...left, bytes_in: head.length + part.length })
  })

  it('says that the client ended its upload early, who hears that it did', async () => {
    const { service, user } = await start()
    const head = headOf({ user, length: 1000 })
    await rawRequest({ port: service.port, send: [head, 'x'], afterwards: 'end' })
    expect(await lineOf('POST')).toMatchObject({ aborted_by: 'client' })
  })

  it('says that the client was too slow with its upload', async () => {
    const { service, user } = await start()
    const head = headOf({ user, length: 1000 })
    const { status } = await rawRequest({ port: service.port, send: [head, '--'] })
    expect(status).toBe(408)
    const slow = { status: 408, code: 'request_timeout', aborted_by: 'timeout' }
    expect(await lineOf('POST')).toMatchObject(slow)
  })

  it('says that the client was too slow with an append, which is no failure of the service', async () => {
    const { service, user } = await start()
    const upload = await createUpload(service, { user, length: 1000 })
    const append = { first: Buffer.alloc(0), missing: 1000 }
    const silent = await beginAppend(service, upload, append)
    expect((await silent.reply).status).toBe(503)
    const slow = { status: 503, code: 'unavailable', aborted_by: 'timeout' }
    expect(await lineOf('PATCH', '/:upload_id')).toMatchObject(slow)
    expect(lines.filter(({ level }) => Number(level) >= 50)).toEqual([])
  })

  it('says that the client left in the middle of an append', async () => {
    const { service, user } = await start()
    const upload = await createUpload(service, { user, length: 9 })
    const append = { first: Buffer.from('four'), missing: 5, afterwards: 'end' } as const
    const left = await beginAppend(service, upload, append)
    await expect.poll(() => stateOf(service, upload), POLL).toBe('receiving')
    left.goOn()
    await left.reply
    const gone = { status: 499, aborted_by: 'client' }
    expect(await lineOf('PATCH', '/:upload_id')).toMatchObject(gone)
    // The append ends after the line.
    await expect.poll(() => stateOf(service, upload), POLL).toBe('open')
    expect(await offsetOf(service, upload)).toBe(4)
    expect(lines.filter(({ level }) => Number(level) >= 50)).toEqual([])
  })

  it('says that a newer request has stopped an append', async () => {
    const { service, user } = await start()
    const upload = await createUpload(service, { user, length: 9 })
    const headers = { 'Upload-Checksum': `sha1 ${base64('x'.repeat(20))}` }
    const append = { first: Buffer.from('four'), missing: 5, headers }
    const older = await beginAppend(service, upload, append)
    expect(await offsetOf(service, upload)).toBe(0)
    await older.reply
    const stopped = { status: 499, code: null, aborted_by: 'superseded' }
    expect(await lineOf('PATCH', '/:upload_id')).toMatchObject(stopped)
    expect(lines.filter(({ level }) => Number(level) >= 50)).toEqual([])
  })

  it('does not blame the client for an append that is refused once its upload is cancelled', async () => {
    const { service, user } = await start()
    const upload = await createUpload(service, { user, length: 9 })
    const client = connect(service.port, '127.0.0.1')
    const headers = { ...TUS, ...OFFSET_TYPE, 'Upload-Offset': '0', Cookie: user.cookie }
    client.write(headText(`PATCH ${upload.path}`, { ...headers, 'Content-Length': '9' }))
    client.write('four')
    await expect.poll(() => stateOf(service, upload)).toBe('receiving')
    expect((await cancel(service, upload)).status).toBe(204)
    // Leaving the loop closes the connection.
    let response = ''
    for await (const chunk of client) {
      response += String(chunk)
      if (response.includes('"outcome":"cancelled"}')) break
    }
    const refused = { status: 410, code: 'upload_gone', aborted_by: null }
    expect(await lineOf('PATCH', '/:upload_id')).toMatchObject(refused)
  })

  it('says that the client left in the middle of its download', async () => {
    const { service, user } = await start()
    await upload(service, { user, content: Buffer.alloc(LARGE) })
    const response = await startDownload(service, { user })
    response.destroy()
    const line = await lineOf('GET')
    expect(line).toMatchObject({ status: 499, aborted_by: 'client', user_id: user.userId })
    expect(line['bytes_out']).toBeLessThan(LARGE)
  })

  it('reports no failure when the client leaves before the store has answered', async () => {
    const opening = Promise.withResolvers<AbortSignal>()
    const { service, user } = await start(() => ({
      async open({ signal }) {
        opening.resolve(signal)
        await once(signal, 'abort')
        throw storeError(signal.reason)
      },
    }))
    await upload(service, { user, content: 'x' })
    const get = `GET ${pathOf('file.bin')} HTTP/1.1\r\nHost: a\r\nCookie: ${user.cookie}\r\n\r\n`
    async function* send() {
      yield get
      await opening.promise
    }
    await rawRequest({ port: service.port, send: send(), afterwards: 'reset' })
    expect(await lineOf('GET')).toMatchObject({ status: 499, aborted_by: 'client' })
    expect(lines.filter(({ level }) => Number(level) >= 50)).toEqual([])
  })

  it('says that the client was too slow to take its download', async () => {
    const { service, user } = await start()
    await upload(service, { user, content: Buffer.alloc(LARGE) })
    const response = await startDownload(service, { user })
    response.on('error', () => {})
    const reason = 'the content was taken too slowly'
    expect(await lineOf('GET')).toMatchObject({ status: 200, aborted_by: 'timeout', reason })
    response.destroy()
  })

  it('says that the object store broke off a download', async () => {
    const { service, user } = await start(() => ({ open: breakingOpen }))
    await upload(service, { user, content: Buffer.alloc(MIB) })
    await expect(download(service, { user })).rejects.toThrow(/aborted/)
    expect(await lineOf('GET')).toMatchObject({ status: 200, aborted_by: 'object_store' })
  })

  it('says that the object store refused an upload', async () => {
    const { service, user } = await start(() => ({
      put: async ({ body }) => {
        discardBody({ body })
        throw storeError(new Error('no'))
      },
    }))
    await upload(service, { user, content: 'x' })
    const failed = { status: 503, code: 'unavailable', aborted_by: 'object_store' }
    expect(await lineOf('POST')).toMatchObject(failed)
  })

  it('says that the end of the process broke off an upload and a download', async () => {
    const { service, user } = await start()
    await upload(service, { user, content: Buffer.alloc(LARGE) })
    const response = await startDownload(service, { user })
    response.on('error', () => {})
    const body = bodyOf(Buffer.alloc(1000))
    const head = headOf({ user, method: 'PUT', length: body.length })
    const send = [head, body.subarray(0, 100)]
    const uploading = rawRequest({ port: service.port, send })
    await delay(200)
    shutdown.abort(new AppError('unavailable', 'The service is shutting down.'))
    expect((await uploading).status).toBe(503)
    expect(await lineOf('PUT')).toMatchObject({ status: 503, aborted_by: 'shutdown' })
    expect(await lineOf('GET')).toMatchObject({ status: 200, aborted_by: 'shutdown' })
  })
})

/** Delivers the half of an object of 1 MiB. */
const breakingOpen: ObjectStore['open'] = async () => {
  async function* half() {
    yield Buffer.alloc(MIB / 2)
    throw storeError(new Error('the connection is gone'))
  }
  return { body: Readable.from(half(), { objectMode: false }), size: MIB }
}
