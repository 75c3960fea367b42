import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { download, MIB } from '../fixture.ts'
import { createUpload } from '../resumable/tus-requests.ts'

/**
 * tus-java-client ends each upload with an append without content, also one of no bytes, which its creation has
 * finished.
 */
describe('an append to a finished upload', () => {
  let service: TestService
  let user: TestUser
  let url: string
  beforeAll(async () => {
    service = await openEmbedded()
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    user = await service.createUser(MIB)
  })

  /** Creates an upload and finishes it. */
  async function finish(content: string): Promise<void> {
    const upload = await createUpload(service, {
      user,
      name: 'a',
      length: content.length,
      ...(content !== '' && { body: content }),
    })
    url = `${service.url}${upload.path}`
  }

  interface Sent {
    readonly headers: Readonly<Record<string, string>>
    readonly body: string | ReadableStream
    readonly duplex?: 'half'
  }

  function send(method: string, target: string, { headers, ...content }: Sent): Promise<Response> {
    return fetch(target, { ...content, method, headers: { ...own(), ...headers } })
  }

  function own() {
    return { cookie: user.cookie, 'tus-resumable': '1.0.0' }
  }

  function append(offset: number, body: string | ReadableStream): Promise<Response> {
    const headers = { ...TYPE, 'upload-offset': `${offset}` }
    return send('PATCH', url, { headers, body, duplex: 'half' })
  }

  async function expectFile(content: string): Promise<void> {
    const { body } = await download(service, { user, name: 'a' })
    expect(body.toString()).toBe(content)
  }

  it.each([
    ['', 'of no length'],
    ['', 'in no chunk'],
    ['four', 'of no length'],
    ['four', 'in no chunk'],
  ])(
    'an append of "%s" with a body %s is told once more that the upload is finished',
    async (content, body) => {
      await finish(content)
      const nothing = body === 'in no chunk' ? new Blob([]).stream() : ''
      const { status, headers } = await append(content.length, nothing)
      expect({ status, offset: headers.get('upload-offset') }).toEqual({
        status: 204,
        offset: `${content.length}`,
      })
      expect(headers.get('repr-digest')).toMatch(/^sha-256=:/)
      expect(headers.has('upload-expires')).toBe(false)
      await expectFile(content)
    },
  )

  it.each([
    [3, 'r'],
    [0, 'four'],
    [0, ''],
    [5, ''],
  ])(
    'an append that begins at byte %i with "%s" learns that the upload is finished',
    async (offset, body) => {
      await finish('four')
      const reply = await append(offset, body)
      expect({ status: reply.status, ...((await reply.json()) as object) }).toMatchObject({
        status: 409,
        code: 'offset_mismatch',
        offset: 4,
      })
      expect(reply.headers.get('upload-offset')).toBe('4')
      const { status, headers } = await fetch(url, { method: 'HEAD', headers: own() })
      const [told, length] = [headers.get('upload-offset'), headers.get('upload-length')]
      expect({ status, told, length }).toEqual({ status: 200, told: '4', length: '4' })
      await expectFile('four')
    },
  )

  it.each([
    ['of one byte', 'x'],
    ['in chunks', new Blob(['x']).stream()],
  ])('is 413 if it has content beyond the end, %s', async (_what, body) => {
    await finish('four')
    expect((await append(4, body)).status).toBe(413)
    await expectFile('four')
  })
})

const TYPE = { 'content-type': 'application/offset+octet-stream' }
