import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { filePart, httpChunk, multipartBody } from '../../support/http/multipart-body.ts'
import { rawRequest } from '../../support/http/raw-http.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { commitUnsent } from '../file-requests.ts'
import {
  bodyOf,
  download,
  expectNothingChanged,
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
      [
        'with fields after it',
        (content) => multipartBody([filePart(content), FIELD, FIELD]),
        'POST',
      ],
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

    describe.each(METHODS)('for a %s', (method) => {
      it('D04 lets a client that sends 5 MB before it reads know that it is full', async () => {
        const placed = await place()
        const content = Buffer.alloc(5 * MIB)
        const { user } = placed
        const reply = await upload(service, { method, user, name: 'b', content, readLate: true })
        expectProblem(reply, FULL)
        expect(reply.closed).toBe(true)
        await expectUntouched(service, placed)
      })
    })

    it('D08 charges an overwrite with the difference', async () => {
      const { user } = await placeFile(service, { capacity: 100_000, size: 80_000 })
      const reply = await upload(service, { user, content: randomBytes(90_000) })
      expect(reply.status).toBe(200)
      expect(jsonOf(reply)).toMatchObject({ capacity: { used: 90_000, available: 10_000 } })
      await expectOnlyObjectsOf(service, { user, names: ['file.bin'] })
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
}

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
