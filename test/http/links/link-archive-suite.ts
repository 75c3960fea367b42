import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { isWithoutZip, readZip } from '../../support/read-zip.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { remove } from '../file-requests.ts'
import { MIB, type OpenService, secretOf, upload } from '../fixture.ts'
import { problemOf } from '../scopes/scoped-requests.ts'
import { createLink, visit } from './link-requests.ts'

/** All files of a download link as one ZIP archive. */
export function linkArchiveSuite(open: OpenService): void {
  describe.skipIf(isWithoutZip)('the archive of a link', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open({ maxArchivedFiles: 3 })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(MIB)
    })

    const make = (terms: { readonly kind: string; readonly [term: string]: unknown }) =>
      createLink(service, { token: secretOf(user), ...terms })
    const put = async (...names: readonly string[]): Promise<void> => {
      for (const name of names) await upload(service, { user, name, content: name })
    }
    const archive = (secret: string, method = 'GET') =>
      visit(service, { secret, path: '?format=zip', method })
    const refusalOf = async (secret: string) => await problemOf(await archive(secret))
    const namesIn = async (response: Response) => {
      const entries = await readZip(Buffer.from(await response.arrayBuffer()))
      return entries.map(({ name }) => name)
    }
    const gone = { status: 404, code: 'not_found' }

    it('has what begins with its prefix, and tells visitors no more than its page', async () => {
      await put('in-b', 'in-a', 'in-archive', 'other')
      const { secret } = await make({ kind: 'download', prefix: 'in-', label: 'The trip' })
      const response = await archive(secret)
      const headers = JSON.stringify([...response.headers])
      expect(headers).toContain('The trip.zip')
      expect(headers).toContain('no-store')
      const body = Buffer.from(await response.clone().arrayBuffer())
      expect(await namesIn(response)).toEqual(['a', 'archive', 'b'])
      // The contents of these files are their whole names.
      expect(body.toString('latin1').match(/in-a/g)).toHaveLength(2)
      expect(headers + body.toString('latin1')).not.toContain(user.userId)
      const head = await archive(secret, 'HEAD')
      expect(head.headers.get('content-length')).toBe(String(body.length))
      const file = await visit(service, { secret, path: '/archive' })
      expect(await file.text()).toBe('in-archive')
    })

    it('has nothing below a folder whose slash the prefix lacks, as its page', async () => {
      await put('photos-1', 'photos/a')
      const { secret } = await make({ kind: 'download', prefix: 'photos' })
      const page = (await (await visit(service, { secret })).json()) as { files: object[] }
      expect(page.files).toMatchObject([{ name: '-1' }])
      expect(await namesIn(await archive(secret))).toEqual(['-1'])
    })

    const tree = ['2026/11/b', '2026/a']
    it.each([
      { prefix: 'photos/2026/', label: '', called: '2026', entries: tree },
      { prefix: 'photos/2026/', label: 'The trip', called: 'The trip', entries: tree },
      { prefix: 'photos/2026/', label: 'a/b', called: '2026', entries: tree },
      { prefix: 'photos/20', label: '', called: 'files', entries: ['26/', '26/11/b', '26/a'] },
      {
        prefix: '',
        label: '',
        called: 'files',
        entries: ['photos/2026/', 'photos/2026/11/b', 'photos/2026/a'],
      },
    ])(
      'has the folder of the prefix $prefix and is called $called with the label $label',
      async ({ prefix, label, called, entries }) => {
        await upload(service, { user, name: 'photos/2026/', content: '', method: 'PUT' })
        await put('photos/2026/a', 'photos/2026/11/b')
        const { secret } = await make({ kind: 'download', prefix, label, max_uses: entries.length })
        const response = await archive(secret)
        const disposition = response.headers.get('content-disposition')
        expect(disposition).toContain(`filename="${called}.zip"`)
        expect(await namesIn(response)).toEqual(entries)
        expect(await refusalOf(secret)).toMatchObject(gone)
      },
    )

    it('is no other format, and no page for a browser that asks for it', async () => {
      await put('f')
      const { secret } = await make({ kind: 'download', prefix: '' })
      const bad = { status: 400, code: 'invalid_parameter', parameter: 'format' }
      for (const query of ['format=tar', 'format=', 'format=ZIP', 'format=zip&format=zip']) {
        for (const headers of [{}, { Accept: 'text/html' }]) {
          const answer = await visit(service, { secret, path: `?${query}`, headers })
          expect(await problemOf(answer)).toMatchObject(bad)
        }
      }
      const headers = { Accept: 'text/html,*/*;q=0.8' }
      const response = await visit(service, { secret, path: '?format=zip&utm_source=x', headers })
      expect(response.headers.get('content-type')).toBe('application/zip')
      expect(await namesIn(response)).toEqual(['f'])
      expect((await visit(service, { secret, path: '/archive/' })).status).toBe(404)
    })

    it('has its one file, under a name of ours if its title is no file name', async () => {
      await put('f')
      const { secret } = await make({ kind: 'download', name: 'f', label: 'a/b' })
      const response = await archive(secret)
      expect(response.headers.get('content-disposition')).toContain('"files.zip"')
      expect(await namesIn(response)).toEqual(['f'])
      await remove(service, { user, name: 'f' })
      expect(await refusalOf(secret)).toMatchObject(gone)
    })

    it('is not given by a link that takes files, nor without the password', async () => {
      await put('f')
      const drop = await make({ kind: 'drop', prefix: '' })
      expect(await refusalOf(drop.secret)).toMatchObject(gone)
      const locked = await make({ kind: 'download', prefix: '', password: 'p' })
      const code = 'link_password_required'
      expect(await refusalOf(locked.secret)).toMatchObject({ status: 401, code })
    })

    it('counts as one use for each file, and as none if it cannot be given', async () => {
      await put('a', 'b', 'c', 'd')
      const { secret } = await make({ kind: 'download', prefix: '', max_uses: 5 })
      const tooMany = { status: 400, code: 'archive_too_large', max_files: 3 }
      expect(await refusalOf(secret)).toMatchObject(tooMany)
      await remove(service, { user, name: 'd' })
      await archive(secret, 'HEAD')
      await dropObject('a')
      expect(await refusalOf(secret)).toMatchObject({ status: 503, code: 'unavailable' })
      await put('a')
      expect(await namesIn(await archive(secret))).toEqual(['a', 'b', 'c'])
      const left = { status: 400, code: 'archive_too_large', max_files: 2 }
      expect(await refusalOf(secret)).toMatchObject(left)
      await remove(service, { user, name: 'c' })
      expect(await namesIn(await archive(secret))).toEqual(['a', 'b'])
      expect(await refusalOf(secret)).toMatchObject(gone)
    })

    it('never counts beyond the uses, with ten at once', async () => {
      await put('a', 'b')
      const { secret } = await make({ kind: 'download', prefix: '', max_uses: 7 })
      const answers = await Promise.all(Array.from({ length: 10 }, () => archive(secret)))
      const given = answers.filter(({ ok }) => ok)
      for (const answer of given) await answer.arrayBuffer()
      expect(given).toHaveLength(3)
      const file = await visit(service, { secret, path: '/a' })
      expect(file.status).toBe(200)
      await file.arrayBuffer()
      expect(await refusalOf(secret)).toMatchObject(gone)
    })

    async function dropObject(name: string): Promise<void> {
      const wanted = { userId: user.userId, name: parseFileName(name), audience: 'owner' } as const
      const key = (await service.ledger.findFile(wanted))?.objectKey
      if (key === undefined) throw new Error('There is no such file.')
      await service.objects.remove({ key, signal: AbortSignal.timeout(10_000) })
    }
  })
}
