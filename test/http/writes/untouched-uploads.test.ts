// On SQLite and an S3 in this process.
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openMigrated } from '../../support/service/migrated-file.ts'
import { createS3Store } from '../../../src/object-store/s3/store.ts'
import { FakeS3 } from '../../support/faults/fake-s3.ts'
import { createFolder } from '../../support/servers/local-server.ts'
import {
  startTestService,
  type TestService,
  type TestUser,
} from '../../support/service/test-service.ts'
import type { Database } from '../../../src/database/database.ts'
import { readUsage } from '../../support/read-usage.ts'

const MIB = 2 ** 20

let opened: AsyncDisposableStack
let s3: FakeS3
let database: Database
let service: TestService
let user: TestUser

beforeEach(async () => {
  opened = new AsyncDisposableStack()
  const folder = opened.adopt(await createFolder('untouched'), (it) => it.remove())
  const file = `${folder.path}/test.db`
  database = opened.adopt(await openMigrated({ file }), (it) => it.close())
  s3 = new FakeS3()
  const objects = opened.adopt(createS3Store(s3.options()), (it) => it.close())
  service = opened.adopt(await startTestService({ database, objects }), (it) => it.stop())
  user = await service.createUser(100 * MIB)
})
afterEach(() => opened.disposeAsync())

/** Sends so much of a file of 20 MiB, waits until `isSeen`, and hangs up. */
async function cutAfter(bytes: number, isSeen: () => Promise<boolean>): Promise<void> {
  const socket = connect({ port: service.port, host: '127.0.0.1' })
  const head = `PUT /users/me/repo/a HTTP/1.1\r\nHost: x\r\nCookie: ${user.cookie}\r\n`
  socket.write(`${head}Content-Length: ${20 * MIB}\r\n\r\n`)
  socket.write(Buffer.alloc(bytes))
  await expect.poll(isSeen, { timeout: 10_000 }).toBe(true)
  socket.destroy()
}

/** But for those that ask, at most once a second, whether the store is the known one. */
const requests = () => s3.calls.filter((call) => call !== 'GetObject')

const journal = () => database.kysely.selectFrom('uploads').select(['state']).execute()
const isBegun = async () => (await journal()).length === 1
const reserved = async () => (await readUsage(service.ledger, user.userId))?.reserved

describe('an upload of a small file', () => {
  const raw = { head: 'PUT', type: 'text/plain', body: 'x'.repeat(4096) }
  const part = 'Content-Disposition: form-data; name="file"; filename="a"'
  const type = 'multipart/form-data; boundary=b'
  const form = {
    head: 'POST',
    type,
    body: `--b\r\n${part}\r\n\r\n${'x'.repeat(4096)}\r\n--b--\r\n`,
  }

  function send({ head, type, body }: typeof raw, sent: string) {
    const socket = connect({ port: service.port, host: '127.0.0.1' })
    const path = `${head} /users/me/repo/a HTTP/1.1\r\nHost: x\r\nCookie: ${user.cookie}\r\n`
    const length = `Content-Length: ${body.length}\r\n`
    socket.write(`${path}Content-Type: ${type}\r\n${length}Connection: close\r\n\r\n${sent}`)
    return socket
  }

  it.each([
    ['body', raw],
    ['form', form],
  ])('an upload that is cut off as a %s has never reached the store', async (_kind, upload) => {
    s3.calls.length = 0
    const socket = send(upload, upload.body.slice(0, -1))
    await expect.poll(isBegun).toBe(true)
    socket.destroy()
    await expect.poll(journal).toEqual([])
    expect(await reserved()).toBe(0)
    await service.sweep()
    expect(s3.calls).toEqual([])
  })

  it('an upload whose form is malformed after the file has never reached the store', async () => {
    s3.calls.length = 0
    const socket = send(form, `${form.body.slice(0, -4)}xx\r\n`)
    expect((await text(socket)).slice(0, 12)).toBe('HTTP/1.1 400')
    expect(await journal()).toEqual([])
    await service.sweep()
    expect(s3.calls).toEqual([])
  })

  it.each([
    ['body', raw],
    ['form', form],
  ])('an upload as a %s is one request to the store', async (_kind, upload) => {
    s3.calls.length = 0
    expect((await text(send(upload, upload.body))).slice(0, 12)).toBe('HTTP/1.1 200')
    expect(requests()).toEqual(['PutObject'])
  })
})

describe('an upload that is cut off', () => {
  it('costs the object store nothing, and leaves nothing to be swept, when nothing of it was sent there', async () => {
    s3.calls.length = 0
    await cutAfter(MIB, isBegun)
    await expect.poll(reserved).toBe(0)
    expect(await journal()).toEqual([])
    await service.sweep()
    expect(requests()).toEqual([])
  })

  it('is removed, and again by sweeps, when a part of it was', async () => {
    await cutAfter(6 * MIB, async () => s3.calls.includes('UploadPart'))
    await expect.poll(reserved).toBe(0)
    expect(await journal()).toEqual([{ state: 'aborted' }])
    expect(s3.calls).toContain('DeleteObject')
  })
})
