import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fileBody } from '../../support/http/multipart-body.ts'
import type {
  TestService,
  TestServiceOptions,
  TestUser,
  TwinServices,
} from '../../support/service/test-service.ts'
import { FORM_TYPE, MIB, pauseUpload, secretOf, upload, usageOf } from '../fixture.ts'
import { base64, OFFSET_TYPE, TUS } from '../resumable/tus-requests.ts'
import { problemOf, send } from '../scopes/scoped-requests.ts'
import { createLink, JSON_TYPE, type Made, visit } from './link-requests.ts'

const LINKS = '/users/me/links'

/** The statuses of drops that can come again. */
const BUSY: ReadonlySet<number> = new Set([423, 429, 503])

/** What a drop link receives at most, at two instances. */
export function dropLimitsSuite(
  open: (options?: TestServiceOptions) => Promise<TwinServices>,
): void {
  it('a drop link has the limits of the operator, unless it asks for less', async () => {
    const limits = { dropMaxBytes: 1000, dropMaxFiles: 10 }
    for (const [options, most] of [
      [limits, { max_bytes: 1000, max_files: 10 }],
      [
        { dropMaxBytes: 0, dropMaxFiles: 0 },
        { max_bytes: null, max_files: null },
      ],
    ] as const) {
      const twins = await open(options)
      const [service] = twins
      const token = secretOf(await service.createUser(MIB))
      const make = (terms = {}) =>
        createLink(service, { token, kind: 'drop', prefix: '', ...terms })
      expect(await make()).toMatchObject(most)
      expect(await make({ max_bytes: null, max_files: null })).toMatchObject(most)
      const { link_id: id } = await make({ max_bytes: 999, max_files: 9 })
      const change = async (body: object) => {
        const patch = { method: 'PATCH', path: `${LINKS}/${id}`, headers: JSON_TYPE, token }
        const answer = await send(service, { ...patch, body: JSON.stringify(body) })
        return (await answer.json()) as object
      }
      const isLimited = most.max_files !== null
      for (const more of [{ max_bytes: 1001 }, { max_files: 11 }]) {
        const changed = await change(more)
        expect(changed).toMatchObject(isLimited ? { code: 'invalid_parameter' } : more)
      }
      expect(await change({ max_bytes: null, max_files: null })).toMatchObject(most)
      await Promise.all(twins.map((twin) => twin.stop()))
    }
  })

  describe('a drop link with limits', () => {
    let twins: TwinServices
    let here: TestService
    let other: TestService
    let user: TestUser
    let token: string
    beforeAll(async () => {
      twins = await open()
      ;[here, other] = twins
    })
    afterAll(() => Promise.all(twins.map((twin) => twin.stop())))
    beforeEach(async () => {
      user = await here.createUser(MIB)
      token = secretOf(user)
    })

    const make = (terms = {}): Promise<Made> =>
      createLink(here, { token, kind: 'drop', prefix: 'in-', ...terms })
    const drop = (secret: string, name: string, body: string | Uint8Array) =>
      dropAt(other, { secret, name, body })
    const dropAt = (
      at: TestService,
      { secret, name, body }: { secret: string; name: string; body: string | Uint8Array },
    ) => visit(at, { secret, path: `/${name}`, method: 'PUT', body })
    const dropForm = (secret: string, name: string, content: string) => {
      const headers = { 'Content-Type': FORM_TYPE }
      return visit(other, {
        secret,
        path: `/${name}`,
        method: 'POST',
        headers,
        body: fileBody(content),
      })
    }
    const create = (secret: string, name: string, terms: Record<string, string>) =>
      visit(here, {
        secret,
        path: '/uploads/',
        method: 'POST',
        headers: { ...TUS, 'Upload-Metadata': `filename ${base64(name)}`, ...terms },
      })
    const pathOf = (created: Response, secret: string) =>
      (created.headers.get('location') ?? '').split(secret)[1] ?? ''
    const append = (
      secret: string,
      path: string,
      [offset, body, more]: [offset: number, body: string, more?: object],
    ) =>
      visit(other, {
        secret,
        path,
        method: 'PATCH',
        body,
        headers: { ...TUS, ...OFFSET_TYPE, 'Upload-Offset': `${offset}`, ...more },
      })
    const refusal = async (response: Promise<Response>) => await problemOf(await response)
    const left = async (secret: string) => (await visit(other, { secret })).json()
    const exceeded = { status: 403, code: 'link_limit_exceeded' }
    const limits = { max_bytes: 1000, max_files: 3 }

    it('shows them to its owner, and to visitors what is left of them', async () => {
      const made = await make(limits)
      expect(made).toMatchObject({ ...limits, bytes_left: 1000, files_left: 3 })
      await drop(made.secret, 'f', 'x'.repeat(400))
      const seen = await left(made.secret)
      expect(seen).toMatchObject({ bytes_left: 600, files_left: 2 })
      expect(seen).not.toHaveProperty('max_bytes')
      const answer = await send(here, { path: LINKS, token })
      const { links } = (await answer.json()) as { links: readonly unknown[] }
      expect(links).toMatchObject([{ ...limits, bytes_left: 600, files_left: 2 }])
    })

    it('takes no more bytes, as a body, a form or by tus, and tells nothing of the account', async () => {
      const { secret } = await make(limits)
      expect(await refusal(drop(secret, 'a', 'x'.repeat(1001)))).toEqual({
        type: 'urn:cloud-repository:problem:link_limit_exceeded',
        title: 'Forbidden',
        status: 403,
        detail: 'This link does not take so many bytes any more.',
        code: 'link_limit_exceeded',
      })
      expect(await refusal(drop(secret, 'a', 'x'.repeat(900)))).toBeUndefined()
      const more = 'x'.repeat(101)
      expect(await refusal(drop(secret, 'b', more))).toMatchObject(exceeded)
      expect(await refusal(dropForm(secret, 'b', more))).toMatchObject(exceeded)
      expect(await refusal(create(secret, 'b', { 'Upload-Length': '101' }))).toMatchObject(exceeded)
      expect(await refusal(dropForm(secret, 'b', 'x'.repeat(100)))).toBeUndefined()
      expect(await refusal(drop(secret, 'c', 'x'))).toMatchObject(exceeded)
      expect(await refusal(drop(secret, 'c', ''))).toBeUndefined()
      expect(await usageOf(here, user)).toMatchObject({ used: 1000, fileCount: 3, reserved: 0 })
    })

    it('takes no more files, and gives nothing back when they are deleted', async () => {
      const { secret } = await make(limits)
      for (const name of ['a', 'b', 'c'])
        expect(await refusal(drop(secret, name, 'x'))).toBeUndefined()
      const again = async () => {
        expect(await refusal(drop(secret, 'd', ''))).toMatchObject(exceeded)
        expect(await refusal(dropForm(secret, 'd', 'x'))).toMatchObject(exceeded)
        expect(await refusal(create(secret, 'd', { 'Upload-Length': '1' }))).toMatchObject(exceeded)
      }
      await again()
      const removed = { method: 'DELETE', path: '/users/me/repo/in-a', token }
      expect((await send(here, removed)).status).toBe(204)
      await again()
      expect(await left(secret)).toMatchObject({ files_left: 0 })
    })

    it('counts the bytes of unfinished drops as they arrive, whatever they announce', async () => {
      const { secret } = await make({ max_bytes: 1000 })
      const path = pathOf(await create(secret, 'tus', { 'Upload-Length': '900' }), secret)
      expect(await refusal(drop(secret, 'a', 'x'.repeat(300)))).toBeUndefined()
      expect((await append(secret, path, [0, 'x'.repeat(500)])).status).toBe(403)
      const short = pathOf(await create(secret, 'short', { 'Upload-Length': '600' }), secret)
      expect((await append(secret, short, [0, 'x'.repeat(500)])).status).toBe(204)
      expect(await refusal(drop(secret, 'b', 'x'.repeat(201)))).toMatchObject(exceeded)
      expect(await refusal(drop(secret, 'b', 'x'.repeat(200)))).toBeUndefined()
      expect(await refusal(append(secret, short, [500, 'x'.repeat(100)]))).toMatchObject(exceeded)
      const head = await visit(here, { secret, path: short, method: 'HEAD', headers: TUS })
      expect([head.status, head.headers.get('upload-offset')]).toEqual([200, '500'])
      const cancelled = await visit(here, { secret, path: short, method: 'DELETE', headers: TUS })
      expect(cancelled.status).toBe(204)
      expect(await refusal(drop(secret, 'c', 'x'.repeat(500)))).toBeUndefined()
    })

    it('refuses the bytes of a deferred length as they arrive, and its declaration', async () => {
      const { secret } = await make({ max_bytes: 1000 })
      const deferred = { 'Upload-Defer-Length': '1' }
      const path = pathOf(await create(secret, 'f', deferred), secret)
      expect((await append(secret, path, [0, 'x'.repeat(600)])).status).toBe(204)
      const long = { 'Upload-Length': '1001' }
      expect(await refusal(append(secret, path, [600, 'x', long]))).toMatchObject(exceeded)
      expect(await refusal(append(secret, path, [600, 'x'.repeat(401)]))).toMatchObject(exceeded)
      const rest = { 'Upload-Length': '1000' }
      expect((await append(secret, path, [600, 'x'.repeat(400), rest])).status).toBe(204)
      expect(await left(secret)).toMatchObject({ bytes_left: 0 })
    })

    it('counts what a drop in progress has sent', async () => {
      const { secret } = await make({ max_bytes: 100_000 })
      const content = Buffer.alloc(90_000)
      const path = `/links/${secret}/slow`
      const paused = await pauseUpload(other, { user, method: 'PUT', path, content })
      expect(
        await refusal(dropAt(here, { secret, name: 'a', body: Buffer.alloc(60_000) })),
      ).toMatchObject(exceeded)
      paused.resume()
      expect((await paused.reply).status).toBe(200)
      expect(
        await refusal(dropAt(here, { secret, name: 'a', body: Buffer.alloc(10_000) })),
      ).toBeUndefined()
    })

    it('lets a visitor who announces much and sends nothing stop nobody', async () => {
      const rich = await here.createUser(1000)
      const terms = { token: secretOf(rich), kind: 'drop', prefix: '', max_bytes: 1000 }
      const { secret } = await createLink(here, terms)
      for (const name of ['a', 'b', 'c']) {
        const created = await create(secret, name, { 'Upload-Length': '1000' })
        expect(created.status).toBe(201)
      }
      expect(await usageOf(here, rich)).toMatchObject({ reserved: 0 })
      await upload(here, { user: rich, name: 'own', content: 'x'.repeat(500) })
      expect(await refusal(drop(secret, 'sent', 'x'.repeat(500)))).toBeUndefined()
    })

    it.each([
      { max_bytes: 50, max_files: null, files: 10 },
      { max_bytes: null, max_files: 7, files: 7 },
    ])('stores $files files of 40 drops at once with %j', async ({ files, ...terms }) => {
      const { secret } = await make(terms)
      const send = async (at: number): Promise<number> => {
        const twin = at % 2 === 0 ? here : other
        const answer =
          at % 3 === 0
            ? await visit(twin, {
                secret,
                path: '/uploads/',
                method: 'POST',
                body: '12345',
                headers: {
                  ...TUS,
                  ...OFFSET_TYPE,
                  'Upload-Length': '5',
                  'Upload-Metadata': `filename ${base64(`n${at}`)}`,
                },
              })
            : await dropAt(twin, { secret, name: `n${at}`, body: '12345' })
        await answer.text()
        return BUSY.has(answer.status) ? await send(at) : answer.status
      }
      const statuses = await Promise.all(Array.from({ length: 40 }, (_, at) => send(at)))
      // One that was stored although its answer said 503 exists when it comes again.
      const others = statuses.filter((status) => ![200, 201, 409].includes(status))
      expect(new Set(others)).toEqual(new Set([403]))
      const { fileCount } = await usageOf(here, user)
      expect(fileCount).toBeLessThanOrEqual(files)
      // Drops that were refused while others were on their way can come again.
      for (let at = 100; at < 100 + files; at += 1)
        await (await drop(secret, `n${at}`, '12345')).text()
      expect(await refusal(drop(secret, 'late', '12345'))).toMatchObject(exceeded)
    })

    it('is refused limits that are none', async () => {
      const ask = async (terms: object) => {
        const body = JSON.stringify({ kind: 'drop', prefix: '', ...terms })
        return await refusal(
          send(here, { method: 'POST', path: LINKS, headers: JSON_TYPE, body, token }),
        )
      }
      for (const [terms, parameter] of [
        [{ max_bytes: 0 }, 'max_bytes'],
        [{ max_files: -1 }, 'max_files'],
        [{ max_files: 1.5 }, 'max_files'],
        [{ max_bytes: '5' }, 'max_bytes'],
        [{ max_bytes: 2 ** 30 + 1 }, 'max_bytes'],
        [{ max_files: 1001 }, 'max_files'],
        [{ kind: 'download', max_bytes: 5 }, 'max_bytes'],
        [{ kind: 'download', max_files: null }, 'max_files'],
      ] as const)
        expect(await ask(terms)).toMatchObject({
          status: 400,
          code: 'invalid_parameter',
          parameter,
        })
    })
  })
}
