import { callerNamed } from '../../support/caller.ts'
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { objectKey, createVersion } from '../../../src/core/objects/object-key.ts'
import { fileBody, filePart, httpChunk, multipartBody } from '../../support/http/multipart-body.ts'
import { put } from '../../support/objects.ts'
import { rawRequest } from '../../support/http/raw-http.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { commitUnsent } from '../file-requests.ts'
import {
  bodyOf,
  download,
  expectNothingChanged,
  expectNothingReserved,
  expectOnlyObjectsOf,
  expectProblem,
  expectUntouched,
  headOf,
  jsonOf,
  MIB,
  type OpenService,
  pauseUpload,
  placeFile,
  SHORT_LINGER,
  upload,
  usageOf,
} from '../fixture.ts'

const FULL = { status: 403, code: 'capacity_exceeded' } as const
const METHODS = ['POST', 'PUT'] as const
const FIELD = { name: 'note', content: 'small' }
/** A user with a file of 60,000 bytes and room for 40,000 more. */
const SIXTY_PERCENT = { capacity: 100_000, size: 60_000 }

/** Rows D01 to D12 of the list of bad input, one request at a time: what fits is taken, what does not is not. */
export function quotaSuite(open: OpenService): void {
  describe('a capacity', () => {
    let service: TestService
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.stop())

    const place = () => placeFile(service, SIXTY_PERCENT)

    it('is not the only bound: with too much garbage uploads get 429 until it is swept', async () => {
      const size = 60 * MIB
      const user = await service.createUser(size)
      for (let versions = 0; versions < 3; versions += 1) {
        await commitUnsent(service, user, { name: 'a', size })
      }
      for (const method of METHODS) {
        const refused = await upload(service, { user, name: 'a', method, content: 'small' })
        expectProblem(refused, { status: 429, code: 'too_many_requests' })
        expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
      }
      expect(await usageOf(service, user)).toMatchObject({ used: size, reserved: 0 })
      await service.sweep()
      expect((await upload(service, { user, name: 'a', content: 'small' })).status).toBe(200)
    })

    describe.each<[string, (content: Buffer) => Buffer, method: 'POST' | 'PUT']>([
      ['that is the whole body', (content) => content, 'PUT'],
      ['alone', (content) => fileBody(content), 'POST'],
      [
        'with fields after it',
        (content) => multipartBody([filePart(content), FIELD, FIELD]),
        'POST',
      ],
      ['with fields before it', (content) => multipartBody([FIELD, filePart(content)]), 'POST'],
      ['without the last line break', (content) => fileBody(content, { epilogue: '' }), 'POST'],
      ['between preamble and epilogue', (content) => fileBody(content, WRAPPED), 'POST'],
    ])('for a file %s', (_how, formOf, method) => {
      it.each([
        ['a Content-Length', false],
        ['chunks', true],
      ])('D01 takes what fits exactly, with %s', async (_framing, chunked) => {
        const { user } = await place()
        const content = randomBytes(40_000)
        const form = formOf(content)
        const reply = await upload(service, { method, user, name: 'b', form, chunked })
        expect({ status: reply.status, body: reply.body.toString() }).toMatchObject({ status: 200 })
        const capacity = { capacity: 100_000, used: 100_000, reserved: 0, available: 0 }
        expect(jsonOf(reply)).toMatchObject({ capacity })
        expect((await download(service, { user, name: 'b' })).body.equals(content)).toBe(true)
      })

      it.each([
        ['a Content-Length', false],
        ['chunks', true],
      ])(
        'D02 refuses a byte more, with %s, and nothing changes (I2)',
        async (_framing, chunked) => {
          const placed = await place()
          const form = formOf(randomBytes(40_001))
          const { user } = placed
          const reply = await upload(service, { method, user, name: 'b', form, chunked })
          expectProblem(reply, FULL)
          await expectUntouched(service, placed)
        },
      )
    })

    it('D02 says in its refusal how much there is and how much was asked for', async () => {
      const { user } = await place()
      const reply = await upload(service, { user, name: 'b', content: randomBytes(40_001) })
      expect(expectProblem(reply, FULL)).toMatchObject({
        limit: 'account',
        capacity: 100_000,
        used: 60_000,
        reserved: 0,
        requested: 40_001,
        available: 40_000,
      })
    })

    describe.each(METHODS)('for a %s', (method) => {
      it('takes an empty file when it is full', async () => {
        const { user } = await placeFile(service, { capacity: 1000, size: 1000 })
        expect((await upload(service, { method, user, name: 'b', content: '' })).status).toBe(200)
      })

      it('D04 lets a client that sends 5 MB before it reads know that it is full', async () => {
        const placed = await place()
        const content = Buffer.alloc(5 * MIB)
        const { user } = placed
        const reply = await upload(service, { method, user, name: 'b', content, readLate: true })
        expectProblem(reply, FULL)
        expect(reply.closed).toBe(true)
        await expectUntouched(service, placed)
      })

      it('D05 lets a client that sends 5 MB in chunks before it reads know that it is full', async () => {
        const placed = await place()
        const content = Buffer.alloc(5 * MIB)
        const sent = { method, name: 'b', content, chunked: true, readLate: true }
        expectProblem(await upload(service, { user: placed.user, ...sent }), FULL)
        await expectUntouched(service, placed)
      })
    })

    it('D06 is charged what came when the Content-Length says more', async () => {
      const placed = await place()
      const form = fileBody(randomBytes(10_000))
      const send = [headOf({ user: placed.user, name: 'b', length: form.length + 10_000 }), form]
      const reply = await rawRequest({ port: service.port, send, afterwards: 'end' })
      expect([0, 400]).toContain(reply.status)
      await expectUntouched(service, placed)
    })

    it('D08 charges an overwrite with the difference', async () => {
      const { user } = await placeFile(service, { capacity: 100_000, size: 80_000 })
      const reply = await upload(service, { user, content: randomBytes(90_000) })
      expect(reply.status).toBe(200)
      expect(jsonOf(reply)).toMatchObject({ capacity: { used: 90_000, available: 10_000 } })
      await expectOnlyObjectsOf(service, { user, names: ['file.bin'] })
    })

    it.each([
      ['a Content-Length', false],
      ['chunks', true],
    ])('D08 refuses an overwrite that does not fit, with %s (I2)', async (_framing, chunked) => {
      const placed = await place()
      const content = randomBytes(100_001)
      const reply = await upload(service, { user: placed.user, content, chunked })
      expectProblem(reply, FULL)
      await expectUntouched(service, placed)
    })

    it('D11 that shrinks below use lets files be read and shrunk, and nothing grow', async () => {
      const placed = await placeFile(service, { capacity: 100_000, size: 80_000 })
      const { user } = placed
      await service.setCapacity(user, 50_000)
      expectProblem(await upload(service, { user, name: 'b', content: 'x' }), FULL)
      expectProblem(await upload(service, { user, content: randomBytes(80_001) }), FULL)
      await expectUntouched(service, placed)
      for (const size of [80_000, 70_000, 40_000]) {
        const smaller = await upload(service, { user, content: randomBytes(size) })
        expect(jsonOf(smaller)).toMatchObject({ size, capacity: { used: size } })
      }
      expect((await upload(service, { user, name: 'b', content: 'x' })).status).toBe(200)
    })

    it('D11 that shrinks while an upload runs is what the upload is held against (I5)', async () => {
      const placed = await place()
      const { user } = placed
      const paused = await pauseUpload(service, { user, name: 'b', content: randomBytes(30_000) })
      await service.setCapacity(user, 70_000)
      paused.resume()
      expectProblem(await paused.reply, FULL)
      await expectUntouched(service, placed)
    })

    it('is reserved for an upload under way, so that another does not get it', async () => {
      const { user } = await place()
      const paused = await pauseUpload(service, { user, name: 'b', content: randomBytes(30_000) })
      const other = await upload(service, { user, name: 'c', content: randomBytes(10_001) })
      expect(expectProblem(other, FULL)).toMatchObject({ reserved: 30_000, available: 10_000 })
      paused.resume()
      expect((await paused.reply).status).toBe(200)
      expect(await usageOf(service, user)).toMatchObject({ used: 90_000, reserved: 0 })
    })
  })

  expectationsSuite(open)
  limitsSuite(open)
  leasesSuite(open)
}

const WRAPPED = { preamble: 'hello', epilogue: '\r\nbye' }

function expectationsSuite(open: OpenService): void {
  describe.each(METHODS)('a client that expects 100 Continue for a %s', (method) => {
    const expecting = { Expect: '100-continue' }
    let service: TestService
    beforeAll(async () => {
      service = await open({ maxFileSize: 20 * 1024 * MIB, ...SHORT_LINGER })
    })
    afterAll(() => service.stop())

    const ask = (user: TestUser | undefined, length: number) =>
      rawRequest({
        port: service.port,
        send: [
          headOf({ method, ...(user && { user }), name: 'b', length, headers: expecting }),
          { pauseMs: 9000 },
        ],
      })

    it('D03 is refused 10 GB before it has sent a byte', async () => {
      const placed = await placeFile(service, { capacity: 1000, size: 1000 })
      const reply = await ask(placed.user, 10_000_000_000)
      expectProblem(reply, FULL)
      expect(reply.all.map(({ status }) => status)).toEqual([403])
      await expectUntouched(service, placed)
    })

    it('is refused what is larger than any file before it has sent a byte', async () => {
      const user = await service.createUser(MIB)
      const reply = await ask(user, 30 * 1024 * MIB)
      expectProblem(reply, { status: 413, code: 'file_too_large' })
      expect(reply.all).toHaveLength(1)
    })

    it('is refused without a token before it has sent a byte', async () => {
      const reply = await ask(undefined, 1000)
      expectProblem(reply, { status: 403, code: 'access_token_missing' })
      expect(reply.all).toHaveLength(1)
    })

    it('is refused a bad name before it has sent a byte', async () => {
      const user = await service.createUser(MIB)
      const path = '/users/me/repo/a%2F%2Fb'
      const head = headOf({ method, user, path, length: 1000, headers: expecting })
      const reply = await rawRequest({ port: service.port, send: [head, { pauseMs: 9000 }] })
      expectProblem(reply, { status: 400, code: 'invalid_file_name' })
      expect(reply.all).toHaveLength(1)
    })

    it.each([
      ['a Content-Length', false],
      ['chunks', true],
    ])('D03 is told to go on, then that it is done, with %s', async (_framing, chunked) => {
      const user = await service.createUser(MIB)
      const form = bodyOf('content', method)
      const length = chunked ? undefined : form.length
      const body = chunked ? [httpChunk(form), httpChunk('')] : [form]
      const head = headOf({ method, user, length, headers: expecting })
      const reply = await rawRequest({
        port: service.port,
        send: [head, { pauseMs: 300 }, ...body],
      })
      expect(reply.all.map(({ status }) => status)).toEqual([100, 200])
      expect((await download(service, { user })).body.toString()).toBe('content')
    })
  })
}

function limitsSuite(open: OpenService): void {
  describe.each(METHODS)('a limit, for a %s,', (method) => {
    let service: TestService
    beforeAll(async () => {
      service = await open({ maxFiles: 2, maxFileSize: 200_000, ...SHORT_LINGER })
    })
    afterAll(() => service.stop())

    it('D13 of the number of files refuses one more, and no overwrite', async () => {
      const { user } = await placeFile(service)
      expect((await upload(service, { method, user, name: 'b', content: '' })).status).toBe(200)
      const third = await upload(service, { method, user, name: 'c', content: '' })
      const refusal = expectProblem(third, { status: 403, code: 'file_count_exceeded' })
      expect(refusal).toMatchObject({ file_count: 2, max_files: 2 })
      expect((await upload(service, { method, user, name: 'b', content: 'x' })).status).toBe(200)
      expect(await usageOf(service, user)).toMatchObject({ fileCount: 2, used: 1001, reserved: 0 })
      await expectOnlyObjectsOf(service, { user, names: ['file.bin', 'b'] })
    })

    it('D13 of the number of files is told in the same words to a client that asks first', async () => {
      const { user } = await placeFile(service)
      await upload(service, { method, user, name: 'b', content: '' })
      const headers = { Expect: '100-continue' }
      const third = await upload(service, { method, user, name: 'c', content: '', headers })
      const refusal = expectProblem(third, { status: 403, code: 'file_count_exceeded' })
      expect(refusal).toMatchObject({ file_count: 2, max_files: 2 })
    })

    it('D13 of the number of files holds for uploads that run at once', async () => {
      const user = await service.createUser(MIB)
      const uploads = Array.from({ length: 8 }, (_, at) =>
        upload(service, { method, user, name: `${at}`, content: 'x' }),
      )
      const replies = await Promise.all(uploads)
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(2)
      expect(replies.filter(({ status }) => status === 403)).toHaveLength(6)
      expect(await usageOf(service, user)).toMatchObject({ fileCount: 2, used: 2, reserved: 0 })
    })

    it.each([
      ['a Content-Length', false],
      ['chunks', true],
    ])(
      'a limit of the size refuses a byte more with 413, with %s (I2)',
      async (_framing, chunked) => {
        const placed = await placeFile(service)
        const { user } = placed
        const reply = await upload(service, {
          method,
          user,
          content: randomBytes(200_001),
          chunked,
        })
        const refusal = expectProblem(reply, { status: 413, code: 'file_too_large' })
        expect(refusal).toMatchObject({ max_file_size: 200_000 })
        await expectUntouched(service, placed)
        expect(
          (await upload(service, { method, user, content: randomBytes(200_000) })).status,
        ).toBe(200)
      },
    )

    it('D05 of the capacity refuses chunks at the byte that no longer fits, not at their end', async () => {
      const placed = await placeFile(service, SIXTY_PERCENT)
      const form = bodyOf(randomBytes(50_000), method)
      const send = [
        headOf({ method, user: placed.user, name: 'b', length: undefined }),
        httpChunk(form.subarray(0, 45_000)),
        { pauseMs: 15_000 },
      ]
      expectProblem(await rawRequest({ port: service.port, send, timeoutMs: 9000 }), FULL)
      await expectUntouched(service, placed)
    })

    it('a limit of the size is told whatever the Content-Length says', async () => {
      const { user } = await placeFile(service)
      const form = bodyOf(randomBytes(1000), method)
      const send = [headOf({ method, user, length: Number.MAX_SAFE_INTEGER }), form]
      const reply = await rawRequest({ port: service.port, send })
      expectProblem(reply, { status: 413, code: 'file_too_large' })
    })
  })
}

/** What no port is called for. */
export function impossibleLengthsSuite(open: OpenService): void {
  describe.each(METHODS)('a length of 2^53 and more, for a %s,', (method) => {
    let service: TestService
    beforeAll(async () => {
      service = await open(SHORT_LINGER)
    })
    afterAll(() => service.stop())

    it('is refused before the database sees it (I2)', async () => {
      const placed = await placeFile(service)
      const { user } = placed
      const lengths = ['9007199254740992', '9223372036854775808', '18446744073709551615']
      const heads = [{}, { 'If-Match': '"nope"' }].flatMap((headers) => {
        const head = headOf({ method, user, length: undefined, headers })
        return lengths.map((length) =>
          head.replace('Transfer-Encoding: chunked', `Content-Length: ${length}`),
        )
      })
      expect(new Set(heads).size).toBe(6)
      const sent = heads.map((head) =>
        rawRequest({ port: service.port, send: [head, bodyOf('x', method)] }),
      )
      for (const reply of await Promise.all(sent)) {
        expectProblem(reply, { status: 400, code: 'format_error' })
      }
      expectNothingChanged(service, placed)
    })
  })
}

function leasesSuite(open: OpenService): void {
  describe('a lease', () => {
    let service: TestService
    beforeAll(async () => {
      service = await open({ leaseMs: 500 })
    })
    afterAll(() => service.stop())

    it('D12 that has ended gives back what a crashed upload had reserved', async () => {
      const placed = await placeFile(service, { capacity: 100_000 })
      const { userId } = placed.user
      const version = createVersion()
      const key = objectKey(userId, version)
      const caller = await callerNamed(service.users, userId)
      const lost = { ...caller, version, objectKey: key, name: parseFileName('b') }
      await service.ledger.begin({ ...lost, bytes: 99_000 })
      await put(service.objects, { key, content: Buffer.from('what was stored by then') })
      const content = randomBytes(10_000)
      expectProblem(await upload(service, { user: placed.user, name: 'c', content }), FULL)
      await delay(600)
      await service.sweep()
      await expectUntouched(service, placed)
      expect((await upload(service, { user: placed.user, name: 'c', content })).status).toBe(200)
    })

    it('D12 of an upload that lives is renewed, whatever is swept', async () => {
      const user = await service.createUser(MIB)
      const content = randomBytes(100_000)
      const paused = await pauseUpload(service, { user, content })
      for (let sweeps = 0; sweeps < 4; sweeps += 1) {
        await delay(400)
        await service.sweep()
      }
      paused.resume()
      expect((await paused.reply).status).toBe(200)
      expect((await download(service, { user })).body.equals(content)).toBe(true)
      await expectNothingReserved(service, user)
    })
  })
}
