import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { MIB, type OpenService, secretOf, upload } from '../fixture.ts'
import { problemOf } from '../scopes/scoped-requests.ts'
import { createLink, type Made, visit } from './link-requests.ts'

/** What counts as a use of a download link. */
export function linkUsesSuite(open: OpenService): void {
  describe('a download link with a number of uses', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(MIB)
    })

    const make = (terms: {
      readonly kind: string
      readonly [term: string]: unknown
    }): Promise<Made> => createLink(service, { token: secretOf(user), ...terms })
    const put = (name: string, content: string) => upload(service, { user, name, content })
    const refusal = async (response: Promise<Response>) => await problemOf(await response)
    const gone = { status: 404, code: 'not_found' }
    const json = async (response: Promise<Response>) => {
      const answer = await response
      expect(answer.status).toBe(200)
      return (await answer.json()) as Record<string, unknown>
    }

    const bytesUsed = async (response: Promise<Response>) => {
      const answer = await response
      return { status: answer.status, bytes: (await answer.arrayBuffer()).byteLength }
    }

    it('counts the bytes that it gives, in whatever ranges, and then gives nothing', async () => {
      await put('f', 'content')
      const { secret } = await make({ kind: 'download', prefix: '', max_uses: 2 })
      const get = (headers = {}) => visit(service, { secret, path: '/f', headers })
      const left = async () => (await json(visit(service, { secret })))['uses_left']
      const { headers } = await get({ Range: 'bytes=1-' })
      await visit(service, { secret, path: '/f', method: 'HEAD' })
      await get({ 'If-None-Match': headers.get('etag') ?? '' })
      await get({ Range: 'bytes=9-' })
      await visit(service, { secret, path: '/none' })
      expect(await left()).toBe(2)
      expect((await get({ Range: 'bytes=0-0' })).status).toBe(206)
      expect(await left()).toBe(1)
      for (const range of ['0-2', '3-3', '0-1'])
        expect((await get({ Range: `bytes=${range}` })).status).toBe(206)
      expect(await left()).toBe(1)
      // One byte is left.
      expect(await refusal(get())).toMatchObject(gone)
      expect(await refusal(get({ Range: 'bytes=0-1' }))).toMatchObject(gone)
      expect(await bytesUsed(get({ Range: 'bytes=6-' }))).toEqual({ status: 206, bytes: 1 })
      for (const range of [{}, { Range: 'bytes=1-' }, { Range: 'bytes=6-' }])
        expect(await refusal(get(range))).toMatchObject(gone)
      expect(await refusal(visit(service, { secret }))).toMatchObject(gone)
    })

    it('counts parts of several files together, and an empty file as one use', async () => {
      await put('two', '12')
      await put('four', '1234')
      await put('empty', '')
      const { secret } = await make({ kind: 'download', prefix: '', max_uses: 2 })
      const get = (path: string, range?: string) =>
        bytesUsed(visit(service, { secret, path, headers: range ? { Range: range } : {} }))
      expect(await get('/empty')).toEqual({ status: 200, bytes: 0 })
      expect(await get('/two', 'bytes=1-')).toEqual({ status: 206, bytes: 1 })
      expect(await get('/four', 'bytes=0-0')).toEqual({ status: 206, bytes: 1 })
      expect((await get('/two', 'bytes=0-0')).status).toBe(404)
      const archive = await visit(service, { secret, path: '?format=zip' })
      expect(await problemOf(archive)).toMatchObject({ code: 'archive_too_large', max_files: 0 })
      expect(await get('/four', 'bytes=3-')).toEqual({ status: 206, bytes: 1 })
      expect((await get('/empty')).status).toBe(404)
    })

    it('does not count what a download that was cut has not sent', async () => {
      const large = 'x'.repeat(24 * MIB)
      const rich = await service.createUser(64 * MIB)
      await upload(service, { user: rich, name: 'f', content: large, method: 'PUT' })
      const terms = { token: secretOf(rich), kind: 'download', name: 'f', max_uses: 1 }
      const { secret } = await createLink(service, terms)
      const statusOfLink = async () => (await visit(service, { secret })).status
      const stop = new AbortController()
      const cut = await visit(service, { secret, path: '/f', signal: stop.signal })
      let read = 0
      for await (const chunk of cut.body ?? []) {
        read += (chunk as Uint8Array).byteLength
        expect(await statusOfLink()).toBe(404)
        break
      }
      stop.abort()
      await expect.poll(statusOfLink, { timeout: 10_000 }).toBe(200)
      expect(read).toBeGreaterThan(0)
      // Not even the whole file less what has arrived, since some bytes were on their way.
      let size = large.length - read
      const rest = () =>
        bytesUsed(visit(service, { secret, path: '/f', headers: { Range: `bytes=-${size}` } }))
      expect((await visit(service, { secret, path: '/f' })).status).toBe(404)
      let given = await rest()
      while (given.status === 404 && size > MIB) {
        size -= MIB
        given = await rest()
      }
      expect(given).toEqual({ status: 206, bytes: size })
      expect(size).toBeGreaterThan(large.length / 4)
    })
  })
}
