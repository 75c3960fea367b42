import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CloudRepositoryError, createClient, isProblem } from '../../../packages/js/src/client.ts'
import { isWithoutZip } from '../../support/read-zip.ts'
import { MIB, secretOf } from '../../http/fixture.ts'
import { temporaryFolder } from '../../support/service/program.ts'
import {
  bytesOf,
  clientOf,
  createContent,
  digestOf,
  entriesOf,
  errorOf,
  openPackage,
  type PackageFixture,
  streamOf,
} from './fixture.ts'

const NAME = 'résumé & 100 % #1?.pdf'

const opened = new AsyncDisposableStack()
let fixture: PackageFixture
beforeAll(async () => {
  fixture = await openPackage(opened, { maxFileSize: 64 * MIB })
})
afterAll(() => opened.disposeAsync())

async function contentOf(name: string): Promise<Uint8Array> {
  return bytesOf((await fixture.client.files.download(name)).stream)
}

describe('files.upload', () => {
  const { bytes, sha256 } = createContent(700_001)

  it.each([
    ['a Uint8Array', () => bytes],
    ['a Blob', () => new Blob([bytes])],
    ['a File', () => new File([bytes], 'other name')],
    ['a ReadableStream', () => streamOf(bytes)],
    ['an async iterable', () => streamOf(bytes).values()],
    ['a path', async () => ({ path: await placeOnDisk(bytes) })],
  ])('stores %s', async (_, contentOfKind) => {
    const file = await fixture.client.files.upload(NAME, await contentOfKind())
    expect(file).toMatchObject({ name: NAME, size: bytes.length, sha256 })
    expect(digestOf(await contentOf(NAME))).toBe(sha256)
  })

  it('sends what is said of the content, in one request and in several', async () => {
    const { client } = fixture
    const metadata = { camera: 'front\u007f', place: 'Köln 💾' }
    for (const resume of [true, false]) {
      const photo = new File([bytes], 'photo', { type: 'image/png' })
      await client.files.upload('described', photo, { resume, metadata })
      const of = await client.files.get('described')
      expect(of).toMatchObject({ media_type: 'image/png', metadata })
      const options = { resume, mediaType: 'text/plain; charset=utf-8', metadata: {} }
      await client.files.upload('described', photo, options)
      expect(await client.files.get('described')).toMatchObject({
        media_type: 'text/plain; charset=utf-8',
        metadata: {},
      })
      await client.files.upload('described', bytes, { resume })
      expect(await client.files.get('described')).toMatchObject({
        media_type: 'application/octet-stream',
      })
    }
    const update = { media_type: 'image/gif', metadata: { a: 'b', c: null } }
    expect(await client.files.update('described', update)).toMatchObject({
      media_type: 'image/gif',
      metadata: { a: 'b' },
    })
  })

  it('stores empty content of each kind', async () => {
    const empty = new Uint8Array(0)
    const kinds = [empty, new Blob([]), streamOf(empty), { path: await placeOnDisk(empty) }]
    for (const content of kinds) {
      for (const resume of [true, false] as const) {
        if (content instanceof ReadableStream && resume) continue
        const file = await fixture.client.files.upload('empty', content, { resume })
        expect(file).toMatchObject({ size: 0, sha256: digestOf(empty) })
      }
    }
  })

  async function placeOnDisk(content: Uint8Array): Promise<string> {
    const path = join(await temporaryFolder(opened), 'content')
    await writeFile(path, content)
    return path
  }

  it('rejects with the error of a source that cannot be read, without a retry', async () => {
    const gone = { path: '/nowhere/at all' }
    expect(await errorOf(fixture.client.files.upload('a', gone))).toMatchObject({ code: 'ENOENT' })
    const failing = () =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => controller.error(new RangeError('mine')),
      })
    const before = fixture.network.requests.length
    for (const resume of [false, 'auto'] as const) {
      const failed = errorOf(fixture.client.files.upload('a', failing(), { resume }))
      expect(await failed).toEqual(new RangeError('mine'))
    }
    expect(fixture.network.requests.length - before).toBeLessThan(2)
    const text = 'text or a path?' as unknown as Blob
    expect(await errorOf(fixture.client.files.upload('a', text))).toBeInstanceOf(TypeError)
  })

  it('tells the progress', async () => {
    const told: number[] = []
    const onProgress = ({ sent }: { sent: number }) => void told.push(sent)
    await fixture.client.files.upload(NAME, bytes, { onProgress })
    expect(told.length).toBeGreaterThan(2)
    expect(told).toEqual(told.toSorted((a, b) => a - b))
    expect(told.at(-1)).toBe(bytes.length)
  })

  it('passes on visibility, expiry, digest and conditions', async () => {
    const { files } = fixture.client
    const stored = await files.upload('terms', bytes, {
      visibility: 'public',
      expiresIn: 3600,
      digest: sha256,
      ifNoneMatch: '*',
    })
    expect(stored).toMatchObject({ visibility: 'public', replaced: false })
    expect(Date.parse(String(stored.expires_at)) - Date.now()).toBeGreaterThan(3_500_000)
    const again = await errorOf(files.upload('terms', bytes, { ifNoneMatch: '*' }))
    expect(again).toMatchObject({ code: 'precondition_failed', status: 412 })
    const replaced = await files.upload('terms', streamOf(bytes), { ifMatch: stored.etag })
    expect(replaced).toMatchObject({ replaced: true })
    const late = await errorOf(files.upload('terms', bytes, { ifMatch: stored.etag }))
    expect(late).toMatchObject({ code: 'precondition_failed' })
  })

  it('has content refused whose digest is another', async () => {
    const wrong = digestOf(Buffer.from('other'))
    const error = await errorOf(fixture.client.files.upload('a', bytes, { digest: wrong }))
    expect(isProblem(error, 'digest_mismatch') && error.problem.sha256).toBe(sha256)
    const sized = createContent(9 * MIB)
    expect(await fixture.client.files.upload('b', sized.bytes, { digest: true })).toMatchObject({
      sha256: sized.sha256,
    })
  })

  it('evicts', async () => {
    const user = await fixture.service.createUser(1000)
    const { files } = clientOf(user, fixture.network.url)
    await files.upload('cam-1', new Uint8Array(900))
    const stored = await files.upload('cam-2', new Uint8Array(800), { evict: 'cam-' })
    expect(stored.evicted).toEqual({ files: 1, bytes: 900 })
  })

  it('rejects with the figures of a full repository', async () => {
    const user = await fixture.service.createUser(100)
    const { files } = clientOf(user, fixture.network.url)
    const error = await errorOf(files.upload('a', new Uint8Array(101)))
    expect(error).toBeInstanceOf(CloudRepositoryError)
    if (!isProblem(error, 'capacity_exceeded')) throw error
    expect(error.problem).toMatchObject({ available: 100, requested: 101, capacity: 100 })
    expect(error.requestId).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('ends with the reason of its signal', async () => {
    const stop = new AbortController()
    const endless = async function* () {
      yield new Uint8Array(1000)
      stop.abort(new RangeError('enough'))
      yield new Uint8Array(1000)
    }
    for (const resume of [false, 'auto'] as const) {
      const { signal } = stop
      const failed = errorOf(fixture.client.files.upload('a', endless(), { signal, resume }))
      expect(await failed).toEqual(new RangeError('enough'))
    }
  })
})

describe('files', () => {
  it.skipIf(isWithoutZip)('come as an archive', async () => {
    const { client } = fixture
    for (const name of ['zip-a', 'zip-b', 'zap']) await client.files.upload(name, Buffer.from(name))
    const archive = async (options: Parameters<typeof client.files.archive>[0]) =>
      entriesOf(await client.files.archive(options))
    expect(await archive({ prefix: 'zip-' })).toEqual(['zip-a', 'zip-b'])
    expect(await archive({ names: ['zip-b', 'zap'] })).toEqual(['zap', 'zip-b'])
    expect(await archive({})).toEqual(expect.arrayContaining(['zap', 'zip-a', 'zip-b']))
  })

  it('are listed, found, renamed, changed and deleted', async () => {
    const { client } = fixture
    for (const name of ['list/'.replace('/', '-a'), 'list-b', 'list-c', 'other']) {
      await client.files.upload(name, Buffer.from(name))
    }
    const names = async (options: Parameters<typeof client.files.list>[0]) =>
      (await Array.fromAsync(client.files.list(options))).map(({ name }) => name)
    expect(await names({ prefix: 'list-', limit: 1 })).toEqual(['list-a', 'list-b', 'list-c'])
    expect(await names({ prefix: 'list-', order: '-name' })).toEqual(['list-c', 'list-b', 'list-a'])
    const pages = await Array.fromAsync(client.files.list({ prefix: 'list-', limit: 2 }).pages())
    expect(pages.map(({ files }) => files.length)).toEqual([2, 1])
    expect(pages[0]?.changes_cursor).toEqual(expect.any(String))
    expect(await names({ contains: 'T-B' })).toEqual(['list-b'])
    const rolled = client.files.list({ delimiter: '-', folderTotals: true })
    const [folders] = await Array.fromAsync(rolled.pages())
    expect(folders?.prefixes).toContain('list-')
    expect(folders?.folders).toContainEqual({ prefix: 'list-', file_count: 3, size: 18 })
    expect(folders?.files.map(({ name }) => name)).toContain('other')

    const moved = await client.files.batch([
      { op: 'rename', prefix: 'list-', new_prefix: 'list-moved/' },
      { op: 'rename', prefix: 'list-moved/', new_prefix: 'list-' },
      { op: 'delete', prefix: 'list-none', ignore_missing: true },
    ])
    expect(moved.results.map(({ matched }) => matched)).toEqual([3, 3, 0])
    const inTheWay = [{ op: 'rename', prefix: 'list-a', new_prefix: 'list-b' }] as const
    expect(await errorOf(client.files.batch(inTheWay))).toMatchObject({
      code: 'file_exists',
      problem: { operation: 0, name: 'list-b' },
    })
    const file = await client.files.get('list-a')
    expect(file).toMatchObject({ name: 'list-a', visibility: 'private', keep: false })
    expect(await errorOf(client.files.get('list-'))).toMatchObject({ code: 'not_found' })
    expect(await client.files.rename('list-a', 'list-z')).toMatchObject({ name: 'list-z' })
    expect(await errorOf(client.files.rename('list-b', 'list-z'))).toMatchObject({
      code: 'file_exists',
    })
    await client.files.rename('list-b', 'list-z', { overwrite: true, ifMatch: '*' })
    const update = { visibility: 'public', keep: true } as const
    expect(await client.files.update('list-z', update)).toMatchObject(update)
    const stale = await errorOf(client.files.delete('list-z', { ifMatch: file.etag }))
    expect(stale).toMatchObject({ code: 'precondition_failed' })
    await client.files.delete('list-z')
    expect(await names({ prefix: 'list-' })).toEqual(['list-c'])
    expect(await errorOf(client.files.delete('list-z'))).toMatchObject({ code: 'not_found' })
  })

  it('files of another user, and files without a token, are only those that are shared', async () => {
    const { client, user, network, service } = fixture
    const { userId } = user
    await client.files.upload('shared', Buffer.from('public'), { visibility: 'public' })
    await client.files.upload('mine', Buffer.from('private'))
    const others = [clientOf(await service.createUser(0), network.url), createClient(network)]
    for (const { files } of others) {
      const { stream } = await files.download('shared', { userId })
      expect(Buffer.from(await bytesOf(stream)).toString()).toBe('public')
      expect(await files.get('shared', { userId })).toMatchObject({ user_id: userId })
      expect(await errorOf(files.download('mine', { userId }))).toMatchObject({ code: 'not_found' })
      expect(await errorOf(files.get('mine', { userId }))).toMatchObject({ code: 'not_found' })
    }
  })

  it('have names that are paths, or nothing is sent', async () => {
    const { files, history } = fixture.client
    const before = fixture.network.requests.length
    const noIds = ['', '.', '..', 'unpaired \ud800']
    const noSegments = noIds.flatMap((id) => [`${id}/a`, `a/${id}/b`, `a/${id}/`])
    const noNames = [...noIds, ...noSegments, 'a/..', 'a/.', '/', '//']
    for (const name of noNames) {
      for (const call of [
        files.upload(name, new Blob([])),
        files.download(name),
        files.rename(name, 'a'),
        files.update(name, { keep: true }),
        files.delete(name),
      ]) {
        expect([name, await errorOf(call)]).toMatchObject([name, { code: 'invalid_file_name' }])
      }
    }
    for (const id of noIds) {
      for (const call of [history.purge(id), files.get('a', { userId: id })])
        expect(await errorOf(call)).toMatchObject({ code: 'invalid_file_name' })
    }
    expect(fixture.network.requests).toHaveLength(before)
  })

  it('are in folders, whose slashes remain in the path', async () => {
    const { client, network } = fixture
    const { files } = client
    const name = 'photos/2026 ü/50% a?b#c;=&+.jpg'
    const path = '/users/me/repo/photos/2026%20%C3%BC/50%25%20a%3Fb%23c%3B%3D%26%2B.jpg'
    expect(await files.upload(name, Buffer.from('a'))).toMatchObject({ name })
    expect(network.requests.at(-1)?.path).toBe(path)
    expect(Buffer.from(await contentOf(name)).toString()).toBe('a')
    expect(network.requests.at(-1)?.path).toBe(path)
    const large = 'photos/film.mov'
    expect(await files.upload(large, createContent(9 * MIB).bytes)).toMatchObject({ name: large })
    await files.upload('photos/%2F/..a', Buffer.from('a'))

    const listed = { prefix: 'photos/', delimiter: '/' } as const
    const [page] = await Array.fromAsync(files.list(listed).pages())
    expect(page?.prefixes).toEqual(['photos/%2F/', 'photos/2026 ü/'])
    expect(page?.files.map((file) => file.name)).toEqual([large])

    const moved = 'photos/2027/a.jpg'
    expect(await files.rename(name, moved)).toMatchObject({ name: moved })
    expect(await files.update(moved, { keep: true })).toMatchObject({ name: moved, keep: true })
    expect(await files.get(moved)).toMatchObject({ name: moved })
    await files.delete(moved)
    expect(await errorOf(files.get(moved))).toMatchObject({ code: 'not_found' })
  })

  it('are markers of folders if their names end in a slash', async () => {
    const { client, network } = fixture
    const { files } = client
    const name = 'empty/folder/'
    for (const content of [new Blob([]), new Uint8Array(), streamOf(new Uint8Array())]) {
      expect(await files.upload(name, content)).toMatchObject({ name, size: 0 })
      expect(network.requests.at(-1)?.path).toBe('/users/me/repo/empty/folder/')
    }
    const one = errorOf(files.upload(name, Buffer.from('a')))
    expect(await one).toMatchObject({ code: 'invalid_file_name', status: 400 })
    expect(await files.get(name)).toMatchObject({ name, size: 0 })
    expect(await contentOf(name)).toHaveLength(0)
    await files.rename(name, 'empty/')
    const [page] = await Array.fromAsync(files.list({ prefix: 'empty/', delimiter: '/' }).pages())
    expect(page).toMatchObject({ files: [{ name: 'empty/' }], prefixes: [] })
    await files.delete('empty/')
    expect(await errorOf(files.get('empty/'))).toMatchObject({ code: 'not_found' })
  })
})

describe('the token', () => {
  it('is described by the session, with what it permits and its end', async () => {
    const { client, network, user } = fixture
    expect(await client.session()).toEqual({
      user_id: user.userId,
      scope: null,
      expires_at: null,
    })
    const scope = { actions: ['read'], prefix: 'a-' } as const
    const { access_token: token } = await client.tokens.create({ scope, expires_in: 60 })
    const narrow = createClient({ url: network.url, token })
    const session = await narrow.session()
    expect(session.scope).toMatchObject(scope)
    expect(Date.parse(String(session.expires_at))).toBeGreaterThan(Date.now())
    expect(await errorOf(narrow.files.delete('a-1'))).toMatchObject({
      code: 'scope_insufficient',
      message: 'The access token does not permit this request: it lacks "delete".',
    })
    expect(await errorOf(narrow.files.get('b'))).toMatchObject({
      message: 'The access token does not permit this request: its "prefix" is too narrow.',
    })
  })

  it('can come from a function, which is asked before each request', async () => {
    const tokens = [secretOf(fixture.user), `crt_${'A'.repeat(43)}`]
    const token = () => Promise.resolve(tokens.shift() ?? '')
    const client = createClient({ url: fixture.service.url, token })
    expect(await client.capacity()).toMatchObject({ user_id: fixture.user.userId })
    expect(await errorOf(client.capacity())).toMatchObject({ code: 'access_token_invalid' })
  })
})
