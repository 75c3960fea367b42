import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MAX_ARCHIVED_NAMES } from '../../../src/core/files/archive.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import type { ObjectKey } from '../../../src/core/objects/object-key.ts'
import { bytesOf, digest } from '../../support/objects.ts'
import { isWithoutZip, readZip } from '../../support/read-zip.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { change, commitUnsent, remove, uploadAll } from '../file-requests.ts'
import {
  download,
  expectProblem,
  MIB,
  type OpenService,
  startDownload,
  upload,
} from '../fixture.ts'

const ARCHIVE = '/users/me/archive'

/** Several files as one ZIP archive. */
export function archiveSuite(open: OpenService): void {
  describe.skipIf(isWithoutZip)('an archive', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open({ maxArchivedFiles: 30, maxDownloadsPerUser: 1 })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(64 * MIB)
    })

    const fill = async (files: Readonly<Record<string, Uint8Array>>): Promise<void> => {
      for (const [name, content] of Object.entries(files)) {
        const reply = await upload(service, { method: 'PUT', user, name, content })
        expect(reply.status).toBe(200)
      }
    }
    const entriesOf = (files: Readonly<Record<string, Uint8Array>>) =>
      Object.entries(files).map(([name, content]) => {
        return { name, size: content.length, sha256: digest(content), isStored: true }
      })
    const archive = (query = '', method = 'GET') =>
      download(service, { user, path: `${ARCHIVE}${query}`, method })

    it('has the files of a prefix or of names, as they are, with its length before', async () => {
      const chosen = {
        'a "1"': randomBytes(100),
        'a-empty': Buffer.alloc(0),
        'a-large': randomBytes(MIB + 1),
        'a\u00e9\u{1f600}\uff21': randomBytes(5000),
      }
      await fill({ ...chosen, b: Buffer.from('b') })
      const names = Object.keys(chosen).map((name) => `name=${encodeURIComponent(name)}`)
      for (const query of ['?prefix=a', `?${names.toReversed().join('&')}`]) {
        const got = await archive(query)
        expect(got.headers).toMatchObject({
          'content-type': 'application/zip',
          'content-length': String(got.body.length),
          'content-disposition': expect.stringContaining(`"${user.userId}.zip"`) as string,
          'cache-control': 'no-store',
        })
        const { date: _d, 'x-request-id': _i, connection: _c, ...expected } = got.headers
        const head = await archive(query, 'HEAD')
        expect(head).toMatchObject({ status: 200, headers: expected, body: Buffer.alloc(0) })
        expect(await readZip(got.body)).toEqual(entriesOf(chosen))
      }
      const all = await readZip((await archive()).body)
      expect(all.map(({ name }) => name)).toEqual([...Object.keys(chosen), 'b'])
    })

    it('has a file whose name has a question mark', async () => {
      await fill({ 'a?b': Buffer.from('a'), a: Buffer.from('b') })
      const entries = await readZip((await archive('?name=a?b')).body)
      expect(entries.map(({ name }) => name)).toEqual(['a?b'])
    })

    const LONG = 'f'.repeat(255)
    it.each([
      ['photos/2026/', '2026', ['2026/', '2026/11/b', '2026/a', '2026/empty/']],
      ['photos/2026', 'photos', ['2026/', '2026/11/b', '2026/a', '2026/empty/']],
      ['photos/2026/1', '2026', ['11/b']],
      ['photos/20', 'photos', ['2025/c', '2026/', '2026/11/b', '2026/a', '2026/empty/']],
      [
        'pho',
        undefined,
        [
          'photos/2025/c',
          'photos/2026/',
          'photos/2026/11/b',
          'photos/2026/a',
          'photos/2026/empty/',
        ],
      ],
      [`${LONG}/`, undefined, [`${LONG}/d`]],
    ])('below the prefix %s is called %s and has its tree', async (prefix, folder, entries) => {
      const empty = Buffer.alloc(0)
      await fill({ 'photos/2026/': empty, 'photos/2026/empty/': empty, [`${LONG}/d`]: empty })
      await fill({ 'photos/2026/11/b': randomBytes(5), 'photos/2026/a': empty })
      await fill({ 'photos/2025/c': randomBytes(5), photos: randomBytes(7) })
      await remove(service, { user, name: 'photos' })
      const got = await archive(`?prefix=${encodeURIComponent(prefix)}`)
      expect((await readZip(got.body)).map(({ name }) => name)).toEqual(entries)
      const disposition = got.headers['content-disposition']
      expect(disposition).toContain(`filename="${folder ?? user.userId}.zip"`)
      expect(got.headers['content-length']).toBe(String(got.body.length))
    })

    it('has names that were asked for whole, also a file beside the folder of its name', async () => {
      await fill({ 'a/b/c': Buffer.from('c'), 'a/b': Buffer.from('b') })
      const got = await archive('?name=a/b/c&name=a%2Fb')
      // No file system has both, so only the list is read.
      const names = /a\/b(?:\/c)?/g
      expect([...new Set(got.body.toString('latin1').match(names))]).toEqual(['a/b', 'a/b/c'])
      expect(got.headers['content-disposition']).toContain(`"${user.userId}.zip"`)
    })

    it('is cut off after a content that does not have the recorded CRC-32', async () => {
      const body = randomBytes(8 * MIB)
      await commitUnsent(service, user, { name: 'a', size: body.length })
      const signal = AbortSignal.timeout(10_000)
      await service.objects.put({ key: await keyOf('a'), body, signal })
      await fill({ b: randomBytes(MIB) })
      const response = await startDownload(service, { user, path: ARCHIVE })
      expect(await receivedBytes(response)).toBeLessThan(body.length + 1000)
    })

    it('an archive of nothing is empty', async () => {
      await fill({ b: Buffer.from('b') })
      expect(await readZip((await archive('?prefix=a')).body)).toEqual([])
    })

    it('has the versions that were current at its start, whatever becomes of them', async () => {
      const before = {
        a: randomBytes(8 * MIB),
        'b-replaced': randomBytes(20_000),
        'c-deleted': randomBytes(300_000),
        'd-renamed': randomBytes(10),
        'e-large': randomBytes(2 * MIB),
      }
      await fill(before)
      const response = await startDownload(service, { user, path: ARCHIVE })
      await fill({
        'b-replaced': randomBytes(7),
        'b-new': randomBytes(7),
        'e-large': randomBytes(1),
      })
      await remove(service, { user, name: 'c-deleted' })
      await change(service, { user, name: 'd-renamed', body: { name: 'z' } })
      expect(await readZip(await bytesOf(response))).toEqual(entriesOf(before))
    })

    it('is cut off if a file can no longer be read', async () => {
      await fill({ a: randomBytes(8 * MIB), b: randomBytes(MIB), c: Buffer.from('c') })
      const response = await startDownload(service, { user, path: ARCHIVE })
      await dropObject('b')
      const announced = Number(response.headers['content-length'])
      expect(announced).toBeGreaterThan(9 * MIB)
      expect(await receivedBytes(response)).toBeLessThan(announced)
    })

    it('is refused if its first file cannot be read', async () => {
      await fill({ a: randomBytes(MIB), b: Buffer.from('b') })
      await dropObject('a')
      expectProblem(await archive(), { status: 503, code: 'unavailable' })
    })

    async function dropObject(name: string): Promise<void> {
      await service.objects.remove({ key: await keyOf(name), signal: AbortSignal.timeout(10_000) })
    }

    async function keyOf(name: string): Promise<ObjectKey> {
      const { userId } = user
      const wanted = { userId, name: parseFileName(name), audience: 'owner' } as const
      const file = await service.ledger.findFile(wanted)
      if (file === undefined) throw new Error('There is no such file.')
      return file.objectKey
    }

    it('counts as a download until its end', async () => {
      await fill({ a: randomBytes(8 * MIB) })
      const running = await startDownload(service, { user, path: ARCHIVE })
      const two = { status: 429, code: 'too_many_requests' } as const
      expectProblem(await download(service, { user, name: 'a' }), two)
      expectProblem(await archive(), two)
      expect((await archive('', 'HEAD')).status).toBe(200)
      running.destroy()
      await expect.poll(async () => (await archive()).status).toBe(200)
    })

    it('has at most so many files', async () => {
      await uploadAll(service, { user, names: Array.from({ length: 31 }, (_, at) => `a${at}`) })
      for (const method of ['GET', 'HEAD'])
        expect((await archive('?prefix=a', method)).status).toBe(400)
      const refused = expectProblem(await archive(), { status: 400, code: 'archive_too_large' })
      expect(refused).toMatchObject({ max_files: 30 })
      expect(await readZip((await archive('?prefix=a1')).body)).toHaveLength(11)
    })

    it('an archive of a name without a file says which', async () => {
      await fill({ a: Buffer.from('a') })
      const refused = expectProblem(await archive('?name=a&name=b'), {
        status: 404,
        code: 'not_found',
      })
      expect(refused['detail']).toMatch(/position 2/)
    })

    const many = Array.from({ length: MAX_ARCHIVED_NAMES + 1 }, (_, at) => `name=${at}`)
    it.each([
      ['prefix=a&name=b', 'invalid_parameter', 'prefix'],
      ['prefix=a%2F%2F', 'invalid_parameter', 'prefix'],
      ['prefix=%ff', 'invalid_parameter', 'prefix'],
      ['prefix=a&prefix=b', 'invalid_parameter', 'prefix'],
      ['name=%ff', 'invalid_parameter', 'name'],
      ['name=a&name=a', 'invalid_parameter', 'name'],
      ['limit=5', 'invalid_parameter', 'limit'],
      ['name=', 'invalid_file_name', undefined],
      ['name=a%2F%2Fb', 'invalid_file_name', undefined],
      ['name=..', 'invalid_file_name', undefined],
    ] as const)('an archive with ?%s is refused', async (query, code, parameter) => {
      await fill({ a: Buffer.from('a') })
      const refused = expectProblem(await archive(`?${query}`), { status: 400, code })
      expect(refused['parameter']).toBe(parameter)
    })

    it('takes as many names as it may, and no more', async () => {
      const most = await archive(`?${many.slice(1).join('&')}`)
      expectProblem(most, { status: 404, code: 'not_found' })
      for (const names of [many, [...many, ...many.map((pair) => `${pair}-`)]]) {
        const refused = expectProblem(await archive(`?${names.join('&')}`), {
          status: 400,
          code: 'invalid_parameter',
        })
        expect(refused['parameter']).toBe('name')
      }
    })
  })
}

/** How much arrives before the end of the connection. */
async function receivedBytes(response: IncomingMessage): Promise<number> {
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  response.on('error', () => undefined)
  await new Promise((resolve) => response.once('close', resolve))
  expect(response.complete).toBe(false)
  return bytes
}
