import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type ClientRequest, type InformationEvent, request as httpRequest } from 'node:http'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rawRequest } from '../../support/http/raw-http.ts'
import { startBreakingProxy } from '../../support/faults/breaking-proxy.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { ask, jsonOf, MIB, type OpenService, pathOf, SHORT_LINGER, usageOf } from '../fixture.ts'
import * as tus from '../resumable/tus-requests.ts'
import { sendResumably } from './draft-client.ts'
import { append, create, DRAFT, expectRefused, expectStored, head } from './draft-requests.ts'

const execute = promisify(execFile)

const withoutCurl = spawnSync('curl', ['--version']).status !== 0

const SIZES = { empty: 0, small: 1, '300 KiB': 300 * 1024, large: 12 * MIB }

const UPLOAD_PATH = /^\/users\/me\/uploads\/[0-9a-f-]{36}$/

/** Section "Status Code 104 (Upload Resumption Supported)". */
export function draftInterimSuite(open: OpenService): void {
  describe('a whole file by the IETF draft, with interim responses', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open({ ...SHORT_LINGER, interimResponses: true })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(64 * MIB)
    })

    it.each(['PUT', 'POST'])(
      'tells a raw socket its URL before the file is there (%s)',
      async (method) => {
        const reply = await create(service, { user, method, complete: '?1', body: 'whole' })
        expect(reply.all.map(({ status }) => status)).toEqual([104, 200])
        expect(reply.all[0]?.headers).toEqual({
          location: expect.stringMatching(UPLOAD_PATH) as string,
          'upload-limit': expect.stringMatching(/^max-size=\d+, max-age=\d+$/) as string,
          'upload-draft-interop-version': '8',
        })
        await expectStored(service, reply, { user, name: 'file.bin', content: 'whole' })
      },
    )

    it('tells the same URL in the interim and the final response to a part', async () => {
      const reply = await create(service, { user, body: 'four', length: 8 })
      expect(reply.all.map(({ status }) => status)).toEqual([104, 201])
      const [interim, final] = reply.all.map(({ headers }) => headers['location'])
      expect(interim).toBe(final)
    })

    it('sends 100 besides, to a client that waits for it', async () => {
      const headers = { Expect: '100-continue' }
      const reply = await create(service, { user, complete: '?1', body: 'whole', headers })
      expect(reply.all.map(({ status }) => status)).toEqual([104, 100, 200])
    })

    it.each([
      ['of another version', { headers: { 'Upload-Draft-Interop-Version': '7' }, complete: '?1' }],
      ['of no version', { headers: { 'Upload-Draft-Interop-Version': '' }, complete: '?1' }],
      ['that is refused', { length: 3, complete: '?1' }],
    ])('sends none to a request %s', async (_what, creation) => {
      const reply = await create(service, { user, body: 'whole', ...creation })
      expect(reply.all).toHaveLength(1)
    })

    it('sends none to a client of HTTP/1.0, as some proxies are, which uploads as ever', async () => {
      const lines = [
        `Cookie: ${user.cookie}`,
        'Upload-Draft-Interop-Version: 8',
        'Upload-Complete: ?1',
      ]
      const start = `PUT ${pathOf('file.bin')} HTTP/1.0`
      const sent = [start, ...lines, 'Content-Length: 5', '', 'whole'].join('\r\n')
      const reply = await rawRequest({ port: service.port, send: [sent] })
      expect(reply.all.map(({ status }) => status)).toEqual([200])
      expect(reply.headers['upload-draft-interop-version']).toBeUndefined()
      await tus.expectFile(service, { user, name: 'file.bin' }, 'whole')
    })

    it.skipIf(withoutCurl)('shows curl the 104, and then what a PUT replies', async () => {
      const headers = ['-H', 'Upload-Draft-Interop-Version: 8', '-H', 'Upload-Complete: ?1']
      const url = service.url + pathOf('curled')
      const sent = ['--silent', '--verbose', '--cookie', user.cookie, '-T', 'package.json']
      const { stdout, stderr } = await execute('curl', [...sent, ...headers, url])
      const statuses = [...stderr.matchAll(/^< HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status)
      // It waits for a 100 only with large files.
      expect(statuses.filter((status) => status !== '100')).toEqual(['104', '200'])
      expect(JSON.parse(stdout)).toMatchObject({ name: 'curled', replaced: false })
      await tus.expectFile(service, { user, name: 'curled' }, await readFile('package.json'))
    })

    it('is resumed by a client of node:http whose connection broke', async () => {
      const content = randomBytes(3 * MIB)
      const request = sendFile({ user, content, until: 2 * MIB })
      const [information] = (await once(request, 'information')) as [InformationEvent]
      expect(information).toMatchObject({
        statusCode: 104,
        headers: { 'upload-draft-interop-version': '8' },
      })
      const path = String(information.headers['location'])
      const upload = tus.uploadOf({ headers: { location: path } }, { user })
      await expect.poll(() => tus.stateOf(service, upload), tus.POLL).toBe('receiving')
      request.destroy()
      const { headers } = await head(service, upload)
      const offset = Number(headers['upload-offset'])
      expect(headers).toMatchObject({
        'upload-complete': '?0',
        'upload-length': `${content.length}`,
      })
      const body = content.subarray(offset)
      const reply = await append(service, upload, { offset, complete: '?1', body })
      await expectStored(service, reply, { ...upload, content })
    })

    it.each([
      ['Repr-Digest', '?1'],
      ['Content-Digest', '?0'],
    ])('frees what it reserved if it is refused for good, by its %s', async (name, complete) => {
      const headers = { [name]: `sha-256=:${Buffer.alloc(32).toString('base64')}:` }
      const reply = await create(service, { user, complete: '?1', body: 'whole', headers })
      expect(reply.all[0]?.status).toBe(104)
      expectRefused(reply, { status: 400, code: 'digest_mismatch', complete })
      expect(await usageOf(service, user)).toMatchObject({ used: 0, reserved: 0 })
      expect(await tus.listed(service, user)).toEqual([])
    })

    it('is a plain upload if the user has no unfinished upload left', async () => {
      const limited = await open({ interimResponses: true, maxUnfinished: 1 })
      try {
        const user = await limited.createUser(MIB)
        expect((await create(limited, { user, length: 1 })).status).toBe(201)
        const refusal = { status: 403, code: 'unfinished_uploads_exceeded' } as const
        expectRefused(await create(limited, { user }), refusal)
        const reply = await create(limited, { user, complete: '?1', body: 'whole' })
        expect(reply.all.map(({ status }) => status)).toEqual([200])
        expect(reply.headers['upload-complete']).toBe('?1')
        expect(jsonOf(reply)).toMatchObject({ size: 5 })
      } finally {
        await limited.stop()
      }
    })

    it('arrives over connections that break (R01, R10)', { timeout: 60_000 }, async () => {
      const big = await service.createUser(512 * MIB)
      await using opened = new AsyncDisposableStack()
      const proxy = await startBreakingProxy({ port: service.port, seed: 7 })
      opened.defer(() => proxy.stop())
      const puts: number[] = []
      for (const [name, size] of Object.entries(SIZES)) {
        const content = randomBytes(size)
        const { requests } = await sendResumably({ url: proxy.url, user: big, name, content })
        puts.push(requests.filter((method) => method === 'PUT').length)
        // Those whose 104 was lost.
        for (const id of await tus.listed(service, big)) {
          const path = `${tus.UPLOADS}/${String(id)}`
          await ask(service, { user: big, method: 'DELETE', path, headers: DRAFT })
        }
        await tus.expectFile(service, { user: big, name }, content)
      }
      expect(Math.max(...puts)).toBeLessThan(4)
      expect(proxy.breaks.filter(({ during }) => during === 'request').length).toBeGreaterThan(10)
    })

    function sendFile(sent: {
      readonly user: TestUser
      readonly content: Uint8Array
      readonly until: number
    }): ClientRequest {
      const { user, content, until } = sent
      const headers = {
        ...DRAFT,
        Cookie: user.cookie,
        'Upload-Complete': '?1',
        'Content-Length': content.length,
      }
      const path = pathOf('file.bin')
      const request = httpRequest({
        port: service.port,
        method: 'PUT',
        path,
        headers,
        agent: false,
      })
      request.on('error', () => undefined)
      request.write(content.subarray(0, until))
      return request
    }
  })
}
