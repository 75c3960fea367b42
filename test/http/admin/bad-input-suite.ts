import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectProblem, jsonOf, type OpenService } from '../fixture.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { ADMIN_OPTIONS, allPages, type Call, call, expectFault, newUser, send } from './fixture.ts'

const FORMAT_ERROR = { status: 400, code: 'format_error' } as const
const NOT_FOUND = { status: 404, code: 'not_found' } as const
const UNAUTHORIZED = { status: 401, code: 'unauthorized' } as const

const UPLOAD = '019ab1c2-7d3e-7c41-9a55-0f6d1b2c3d4e'

/** What is no number of bytes, as JSON. */
const NO_BYTES = [
  '-1',
  '1.5',
  '"5"',
  '[5]',
  'null',
  'true',
  '[]',
  '{}',
  '1e400',
  '9007199254740992',
]

/** What is no time. */
const NO_TIMES = [
  '"2027-01-01"',
  '"tomorrow"',
  '["2027-01-01T00:00:00Z"]',
  '"2027-02-30T00:00:00Z"',
  '"2027-01-01T24:00:00Z"',
  '"2027-01-01T00:00:00"',
  '"0000-01-01T00:00:00+23:00"',
  '""',
  '1800000000000',
  'null',
]

/** Whatever is sent is answered with a 4xx that says what is wrong and where, and changes nothing. */
export function adminBadInputSuite(open: OpenService): void {
  describe('admin: bad input', () => {
    let service: TestService
    let path: string
    beforeAll(async () => {
      service = await open(ADMIN_OPTIONS)
      path = await newUser(service)
    })
    afterAll(async () => {
      // Nothing of all this has had an effect.
      const grants = await allPages(service, { path: `${path}/grants`, member: 'grants', limit: 5 })
      expect(grants).toEqual([])
      await service.stop()
    })

    const of = (what: Call, id = path.slice(1)): Call => ({
      ...what,
      path: (what.path ?? '').replace(':id', id),
    })
    const put = (below: string, raw: string) =>
      call(service, { method: 'PUT', path: `${path}${below}`, raw })

    describe('without the token', () => {
      it.each([
        '',
        'Bearer',
        'Bearer ',
        'Bearer wrong',
        `Bearer ${ADMIN_OPTIONS.adminToken}x`,
        `Bearer ${ADMIN_OPTIONS.adminToken.slice(0, -1)}`,
        `Bearer ${ADMIN_OPTIONS.adminToken} x`,
        `Basic ${ADMIN_OPTIONS.adminToken}`,
        ADMIN_OPTIONS.adminToken,
      ])('"%s" is 401', async (authorization) => {
        const reply = await send(service, { method: 'GET', headers: { authorization } })
        expectProblem(reply, UNAUTHORIZED)
      })

      it('unknown paths and methods are 401 as well, and the scheme is of either case', async () => {
        expectProblem(await send(service, { method: 'GET', path: '/a/b/c/d' }), UNAUTHORIZED)
        expectProblem(await send(service, { method: 'PUT' }), UNAUTHORIZED)
        const authorization = `bearer ${ADMIN_OPTIONS.adminToken}`
        const reply = await send(service, { method: 'GET', headers: { authorization } })
        expect(reply.status).toBe(200)
      })

      it('a body is refused before it is looked at', async () => {
        const reply = await send(service, { method: 'POST', raw: 'x'.repeat(100_000) })
        expectProblem(reply, UNAUTHORIZED)
      })
    })

    describe('bytes', () => {
      it.each(NO_BYTES)('%s are no bytes of a device', async (bytes) => {
        expectFault(await put('/devices/cam', `{"bytes":${bytes}}`), 'bytes')
      })

      it.each(NO_BYTES)('%s are no bytes of a grant', async (bytes) => {
        expectFault(await put('/grants/gift/1', `{"bytes":${bytes}}`), 'bytes')
      })

      it('are required of a grant', async () => {
        expectFault(await put('/grants/gift/1', '{}'), 'bytes')
        expectFault(await put('/grants/gift/1', ''), 'bytes')
      })
    })

    const models = ['5', 'null', 'true', '["cam"]', '""', '"ä"', '"a\\u0000"', '"camera-3"']
    it.each([...models, `"${'m'.repeat(129)}"`])('a model cannot be %s', async (model) => {
      expectFault(await put('/devices/cam', `{"model":${model}}`), 'model')
    })

    const controls = ['"a\\n"', '"\\u007f"', '"\\ud800"']
    const tooLong = [`"${'l'.repeat(201)}"`, `"${'🙂'.repeat(201)}"`]
    it.each(['5', 'true', '["cam"]', ...controls, ...tooLong])(
      'a label of a device cannot be %s',
      async (label) => {
        expectFault(await put('/devices/cam', `{"label":${label}}`), 'label')
      },
    )

    it('a label may have 200 characters of any kind, of a device, a token or a link', async () => {
      const label = '🙂'.repeat(200)
      const body = JSON.stringify({ label })
      expect((await put('/devices/cam', body)).status).toBe(201)
      await call(service, { method: 'DELETE', path: `${path}/devices/cam` })
      const issue = { method: 'POST', path: `${path}/access-tokens`, raw: body }
      const issued = jsonOf(await call(service, issue))
      expect(issued).toMatchObject({ label })
      const cookie = `access_token=${String(issued['access_token'])}`
      const link = { label, kind: 'download', prefix: 'a', password: label }
      const made = await fetch(`${service.url}/users/me/links`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json' },
        body: JSON.stringify(link),
      })
      expect(await made.json()).toMatchObject({ label })
    })

    it.each([...NO_BYTES, '"none"', '"All"', '""', '{}'])('a share cannot be %s', async (share) => {
      const reply = await put('/devices/cam', `{"share":${share}}`)
      expectFault(reply, 'share')
      expect(jsonOf(reply)['detail']).toMatch(/^share .*(number of bytes|2\^53 - 1)/)
    })

    describe.each(['starts_at', 'ends_at'])('%s', (member) => {
      it.each(NO_TIMES)('cannot be %s', async (time) => {
        expectFault(await put('/grants/gift/1', `{"bytes":5,"${member}":${time}}`), member)
      })
    })

    it.each(['2027-01-01T00:00:00Z', '2026-12-31T23:59:59.999Z', '2027-01-01T00:30:00+01:00'])(
      'a grant cannot end when it starts or before: %s',
      async (ends_at) => {
        const terms = JSON.stringify({ bytes: 5, starts_at: '2027-01-01T00:00:00Z', ends_at })
        expectFault(await put('/grants/gift/1', terms), 'ends_at')
      },
    )

    it.each([
      ['label', '5'],
      ['label', 'null'],
      ['label', '["phone"]'],
      ['label', '"a\\u0000"'],
      ['label', '"\\ud800"'],
      ['label', `"${'x'.repeat(201)}"`],
      ['expires_in', '0'],
      ['expires_in', '-1'],
      ['expires_in', '1.5'],
      ['expires_in', '"60"'],
      ['expires_in', '[60]'],
      ['expires_in', '1e15'],
      ['expires_in', 'null'],
    ])('the %s of a token cannot be %s', async (member, value) => {
      const raw = `{"${member}":${value}}`
      const issue = { method: 'POST', path: `${path}/access-tokens`, raw }
      expectFault(await call(service, issue), member)
    })

    it.each([
      '{}',
      '{"status":"deleted"}',
      '{"status":"Active"}',
      '{"status":1}',
      '{"status":null}',
      '{"status":["suspended"]}',
    ])('a status is not set by %s', async (raw) => {
      expectFault(await call(service, { method: 'PATCH', path, raw }), 'status')
    })

    it.each([
      ['device_id', '/devices/a%20b', undefined],
      ['device_id', '/devices/a%2Fb', undefined],
      ['device_id', '/devices/%00', undefined],
      ['device_id', `/devices/${'a'.repeat(129)}`, undefined],
      ['source', '/grants/Gift/1', { bytes: 5 }],
      ['source', '/grants/1st/1', { bytes: 5 }],
      ['source', `/grants/${'a'.repeat(33)}/1`, { bytes: 5 }],
      ['reference', '/grants/gift/a%20b', { bytes: 5 }],
      ['reference', '/grants/gift/%F0%9F%8E%81', { bytes: 5 }],
      ['reference', `/grants/gift/${'a'.repeat(129)}`, { bytes: 5 }],
    ])('a %s is not what is in %s', async (parameter, below, body) => {
      const at = `${path}${below}`
      expectFault(await call(service, { method: 'PUT', path: at, body }), parameter)
      expectFault(await call(service, { method: 'DELETE', path: at }), parameter)
    })

    it.each(['a%20b', '%00', 'a'.repeat(65), 'a%2Fb'])('a token_id is not %s', async (id) => {
      const at = `${path}/access-tokens/${id}`
      expectFault(await call(service, { method: 'DELETE', path: at }), 'token_id')
    })

    it.each(['some', '%00', UPLOAD.toUpperCase(), `${UPLOAD}0`, UPLOAD.replace('-7c', '-4c')])(
      'an upload_id is not %s',
      async (id) => {
        const at = `${path}/uploads/${id}`
        expectFault(await call(service, { method: 'DELETE', path: at }), 'upload_id')
      },
    )

    it.each(['me', 'a.b'])('the list of users has no cursor of "%s"', async (id) => {
      expectFault(await call(service, { method: 'GET', path: `?cursor=${cursor([id])}` }), 'cursor')
    })

    it.each(['a%20b', '%00', '%ff', '%', 'a%2Fb', '%C3%A4', 'a'.repeat(65), 'a&prefix=b'])(
      'no user id begins with %s',
      async (prefix) => {
        expectFault(await call(service, { method: 'GET', path: `?prefix=${prefix}` }), 'prefix')
      },
    )

    it('the list of tokens has no cursor without a time', async () => {
      const what = of({ method: 'GET', path: `/:id/access-tokens?cursor=${cursor(['a', 'b'])}` })
      expectFault(await call(service, what), 'cursor')
    })

    it.each(['files?cursor=!', 'history?cursor=!', 'archive?name=a%2F%2Fb'])(
      '%s is said to be wrong only where the account is there',
      async (below) => {
        expect((await call(service, { method: 'GET', path: `${path}/${below}` })).status).toBe(400)
        expectProblem(await call(service, { method: 'GET', path: `/nobody/${below}` }), NOT_FOUND)
      },
    )

    it('bytes that are no UTF-8, and 17 KiB, are a format_error', async () => {
      const issue = { method: 'POST', path: `${path}/access-tokens` }
      for (const raw of [
        Buffer.from('7b2261223a22ff227d', 'hex'),
        JSON.stringify({ label: 'x'.repeat(17 * 1024) }),
      ]) {
        expectProblem(await call(service, { ...issue, raw }), FORMAT_ERROR)
      }
    })

    it('a method that the path does not have is 405, whatever its body', async () => {
      const reply = await call(service, of({ method: 'GET', path: '/:id/devices/cam', body: {} }))
      expect([reply.status, reply.headers['allow']]).toEqual([405, 'PUT, DELETE'])
    })

    it.each(['/a/b', '/a/devices/b/c', '/a/grants/b', '/a/files'])('%s is 404', async (at) => {
      expectProblem(await call(service, { method: 'GET', path: at }), NOT_FOUND)
    })

    it('a path that is no UTF-8 is 400', async () => {
      expectFault(await call(service, { method: 'GET', path: '/%ff' }), 'path')
    })
  })
}

function cursor(key: unknown): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url')
}
