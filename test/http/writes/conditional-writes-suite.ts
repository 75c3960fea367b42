import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rawRequest } from '../../support/http/raw-http.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { change, remove, validatorsOf, WRITES, write } from '../file-requests.ts'
import {
  bodyOf,
  download,
  expectOnlyObjectsOf,
  expectNothingChanged,
  expectProblem,
  expectUntouched,
  headOf,
  jsonOf,
  MIB,
  type OpenService,
  pauseUpload,
  type Placed,
  placeFile,
  SHORT_LINGER,
  upload,
  usageOf,
} from '../fixture.ts'

const FAILED = { status: 412, code: 'precondition_failed' } as const
const MALFORMED = { status: 400, code: 'invalid_parameter' } as const
const OTHER = '"019ab1c2-0000-7000-8000-000000000000"'
/** A form up to somewhere in its file. */
const FIRST_BYTES = bodyOf('x'.repeat(1000)).subarray(0, 500)
const LONG_AGO = 'Sun, 06 Nov 1994 08:49:37 GMT'

interface Validators {
  readonly etag: string
  readonly modified: string
}

type Headers = (file: Validators) => Record<string, string>

/** What `If-Match`, `If-None-Match` and `If-Unmodified-Since` do on every method that writes. */
export function conditionalWritesSuite(open: OpenService): void {
  describe('a write with a precondition', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service)
    })

    it.each(metConditions())('%s is done', async (_what, headersOf) => {
      for (const method of WRITES) {
        const { user } = await placeFile(service)
        const headers = headersOf(await validatorsOf(service, { user }))
        const { status } = await write(service, { method, user, headers })
        expect({ method, status }).toEqual({ method, status: method === 'DELETE' ? 204 : 200 })
        expect(await usageOf(service, user)).toMatchObject({ reserved: 0 })
      }
    })

    it.each(['PUT', 'DELETE and PUT', 'a rename'])(
      'H13 If-Unmodified-Since the date of a content that was replaced in its second, by %s, changes nothing',
      async (how) => {
        const { user } = placed
        await upload(service, { method: 'PUT', user, name: 'other', content: 'other' })
        const { modified } = await validatorsOf(service, { user })
        if (how !== 'PUT') await remove(service, { user })
        if (how === 'a rename') {
          const body = { name: 'file.bin' }
          await change(service, { user, name: 'other', body })
        } else await upload(service, { method: 'PUT', user, content: 'other' })
        await nextSecond()
        const headers = { 'If-Unmodified-Since': modified }
        const current = await validatorsOf(service, { user })
        for (const method of WRITES) {
          expectProblem(await write(service, { method, user, headers }), FAILED)
        }
        const since = { 'If-Modified-Since': modified }
        expect((await download(service, { user, headers: since })).status).toBe(200)
        const again = { 'If-Modified-Since': current.modified }
        expect((await download(service, { user, headers: again })).status).toBe(304)
      },
    )

    it.each(failedConditions())('%s changes nothing (I2)', async (_what, headersOf) => {
      const { user } = placed
      const headers = headersOf(await validatorsOf(service, { user }))
      for (const method of WRITES) {
        expectProblem(await write(service, { method, user, headers }), FAILED)
      }
      await expectUntouched(service, placed)
    })

    it.each([
      ['If-Match: *', { 'If-Match': '*' }, 412],
      ['If-Match with an etag', { 'If-Match': OTHER }, 412],
      ['If-None-Match: *', { 'If-None-Match': '*' }, 200],
      ['If-None-Match with an etag', { 'If-None-Match': OTHER }, 200],
      ['If-Unmodified-Since', { 'If-Unmodified-Since': LONG_AGO }, 200],
    ])('%s finds nothing where there is no file', async (_what, headers, expected) => {
      const user = await service.createUser(MIB)
      for (const method of WRITES) {
        const name = `not there for ${method}`
        const { status } = await write(service, { method, user, name, headers })
        const missing = method === 'DELETE' || method === 'PATCH'
        expect({ method, status }).toEqual({ method, status: missing ? 404 : expected })
      }
    })

    it('If-Match with weak entity tags only is told that a proxy has weakened them', async () => {
      const { user, etag } = placed
      const headers = { 'If-Match': `W/${etag}, W/"other"` }
      for (const method of WRITES) {
        const problem = expectProblem(await write(service, { method, user, headers }), FAILED)
        expect(problem['detail']).toContain('a proxy that compresses')
      }
      const other = expectProblem(
        await upload(service, {
          method: 'PUT',
          user,
          headers: { 'If-Match': OTHER },
          content: 'x',
        }),
        FAILED,
      )
      expect(other['detail']).not.toContain('proxy')
    })

    it('If-None-Match: * makes a file once', async () => {
      const { user } = placed
      const create = { user, name: 'once', headers: { 'If-None-Match': '*' } } as const
      expect((await upload(service, { ...create, method: 'PUT', content: 'one' })).status).toBe(200)
      expectProblem(await upload(service, { ...create, method: 'PUT', content: 'two' }), FAILED)
      expectProblem(await upload(service, { ...create, content: 'three' }), FAILED)
      expect((await download(service, { user, name: 'once' })).body.toString()).toBe('one')
    })

    it('follows a file from etag to etag', async () => {
      const { user } = placed
      let { etag } = placed
      for (let round = 0; round < 5; round += 1) {
        const headers = { 'If-Match': etag }
        const reply = await upload(service, { method: 'PUT', user, headers, content: `${round}` })
        expect(reply.status).toBe(200)
        expectProblem(await upload(service, { user, headers, content: 'stale' }), FAILED)
        etag = String(reply.headers['etag'])
      }
      expect((await download(service, { user })).body.toString()).toBe('4')
    })

    it.each(['PUT', 'POST'] as const)('%s lets a client read so that sends on', async (method) => {
      const content = Buffer.alloc(5 * MIB)
      const headers = { 'If-Match': OTHER }
      const { user } = placed
      const reply = await upload(service, { method, user, content, headers, readLate: true })
      expectProblem(reply, FAILED)
      await expectUntouched(service, placed)
    })
  })

  beforeTheBody(open)
  whileTheBodyComes(open)
}

/** When the date of a second content of a second is sent, and holds. */
async function nextSecond(): Promise<void> {
  await delay(1000 - (Date.now() % 1000))
}

/** A condition that is refused above the ports: nothing is called that could change anything. */
export function refusedConditionsSuite(open: OpenService): void {
  describe('a write with a malformed precondition', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service)
    })

    it.each(malformedConditions())('%s: %s is refused (I2)', async (name, value) => {
      const { user } = placed
      for (const method of WRITES) {
        const reply = await write(service, { method, user, headers: { [name]: value } })
        expect(expectProblem(reply, MALFORMED)).toMatchObject({ parameter: name })
      }
      expectNothingChanged(service, placed)
    })
  })
}

function beforeTheBody(open: OpenService): void {
  describe('a precondition that fails before the body', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open(SHORT_LINGER)
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service)
    })

    it.each([
      ['PUT', 'a Content-Length', '', 1_000_000],
      ['PUT', 'chunks', '', undefined],
      ['POST', 'a Content-Length', FIRST_BYTES, 1_000_000],
    ] as const)('%s with %s is told at once', async (...row) => {
      const [method, , start, length] = row
      const headers = { 'If-Match': OTHER }
      const head = headOf({ method, user: placed.user, length, headers })
      const send = [head, start, { pauseMs: 9000 }]
      const reply = await rawRequest({ port: service.port, send, timeoutMs: 8000 })
      expectProblem(reply, FAILED)
      await expectUntouched(service, placed)
    })

    it.each([
      ['PUT', 1_000_000],
      ['PUT', undefined],
      ['POST', 1_000_000],
      ['POST', undefined],
    ] as const)('%s of %s bytes is never told to go on', async (method, length) => {
      const headers = { 'If-None-Match': '*', Expect: '100-continue' }
      const head = headOf({ method, user: placed.user, length, headers })
      const send = [head, { pauseMs: 9000 }]
      const reply = await rawRequest({ port: service.port, send, timeoutMs: 8000 })
      expectProblem(reply, FAILED)
      expect(reply.all.map(({ status }) => status)).toEqual([412])
      await expectUntouched(service, placed)
    })
  })
}

function whileTheBodyComes(open: OpenService): void {
  describe.each(['PUT', 'POST'] as const)('a precondition of a slow %s', (method) => {
    let service: TestService
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.stop())

    const content = randomBytes(5000)

    it('is asked again at its end: an overwrite meanwhile stays (I1)', async () => {
      const { user, etag } = await placeFile(service)
      const headers = { 'If-Match': etag }
      const paused = await pauseUpload(service, { method, user, content, headers })
      const other = await upload(service, { method: 'PUT', user, content: 'the other' })
      paused.resume()
      expectProblem(await paused.reply, FAILED)
      const left = { user, name: 'file.bin', content: Buffer.from('the other') }
      await expectUntouched(service, { ...left, etag: String(other.headers['etag']) })
    })

    it('is asked again at its end: a file made meanwhile stays (I1)', async () => {
      const user = await service.createUser(MIB)
      const headers = { 'If-None-Match': '*' }
      const paused = await pauseUpload(service, { method, user, content, headers })
      const other = await upload(service, { method: 'PUT', user, content: 'the other' })
      paused.resume()
      expectProblem(await paused.reply, FAILED)
      const left = { user, name: 'file.bin', content: Buffer.from('the other') }
      await expectUntouched(service, { ...left, etag: String(other.headers['etag']) })
    })

    it('is asked again at its end: a file removed meanwhile stays so', async () => {
      const { user, etag } = await placeFile(service)
      const headers = { 'If-Match': etag }
      const paused = await pauseUpload(service, { method, user, content, headers })
      expect((await remove(service, { user })).status).toBe(204)
      paused.resume()
      expectProblem(await paused.reply, FAILED)
      expect(await usageOf(service, user)).toMatchObject({ used: 0, reserved: 0, fileCount: 0 })
      await expectOnlyObjectsOf(service, { user, names: [] })
    })

    it('holds when nobody else came', async () => {
      const { user, etag } = await placeFile(service)
      const headers = { 'If-Match': etag }
      const paused = await pauseUpload(service, { method, user, content, headers })
      paused.resume()
      expect(jsonOf(await paused.reply)).toMatchObject({ replaced: true, size: content.length })
    })
  })
}

function metConditions(): [what: string, headers: Headers][] {
  return [
    ['If-Match with the etag', ({ etag }) => ({ 'If-Match': etag })],
    ['If-Match: *', () => ({ 'If-Match': '*' })],
    ['If-None-Match with another etag', () => ({ 'If-None-Match': OTHER })],
    ['If-Unmodified-Since its second', ({ modified }) => ({ 'If-Unmodified-Since': modified })],
    ['If-Unmodified-Since no date', () => ({ 'If-Unmodified-Since': '1994-11-06' })],
    ['If-Unmodified-Since nothing', () => ({ 'If-Unmodified-Since': '' })],
    [
      'If-Match and a date that is past',
      ({ etag }) => ({ 'If-Match': etag, 'If-Unmodified-Since': LONG_AGO }),
    ],
    [
      'If-Match and If-None-Match that both hold',
      ({ etag }) => ({ 'If-Match': etag, 'If-None-Match': OTHER }),
    ],
  ]
}

function failedConditions(): [what: string, headers: Headers][] {
  return [
    ['If-Match with another etag', () => ({ 'If-Match': OTHER })],
    ['If-Match with the etag made weak', ({ etag }) => ({ 'If-Match': `W/${etag}` })],
    ['If-None-Match: *', () => ({ 'If-None-Match': '*' })],
    ['If-None-Match with the etag', ({ etag }) => ({ 'If-None-Match': etag })],
    ['If-None-Match with the etag made weak', ({ etag }) => ({ 'If-None-Match': `W/${etag}` })],
    ['If-Unmodified-Since long ago', () => ({ 'If-Unmodified-Since': LONG_AGO })],
    [
      'If-Match that holds and If-None-Match that does not',
      ({ etag }) => ({ 'If-Match': etag, 'If-None-Match': '*' }),
    ],
    [
      'If-None-Match that holds and If-Match that does not',
      () => ({ 'If-Match': OTHER, 'If-None-Match': '"a"' }),
    ],
    [
      'If-Match that does not hold and a date that does',
      ({ modified }) => ({ 'If-Match': OTHER, 'If-Unmodified-Since': modified }),
    ],
    [
      'If-None-Match that does not hold and a date that does',
      ({ modified }) => ({ 'If-None-Match': '*', 'If-Unmodified-Since': modified }),
    ],
  ]
}

function malformedConditions(): [name: string, value: string][] {
  const values = ['', 'a', '*, "a"']
  return ['If-Match', 'If-None-Match'].flatMap((name) =>
    values.map((value): [string, string] => [name, value]),
  )
}
