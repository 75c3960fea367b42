import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { expect } from 'vitest'
import { change, remove } from '../http/file-requests.ts'
import { upload } from '../http/fixture.ts'
import { forTest } from '../support/for-test.ts'
import { temporaryFolder } from '../support/service/program.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { cursorOf, startFakeService } from './fake-service.ts'

export interface Mirror {
  readonly service: TestService
  readonly user: TestUser
  /** What the program keeps equal to the repository. */
  readonly folder: string
  readonly start: () => ChildProcess
}

/**
 * Expects a mirror to follow every kind of change, to find what has changed while it did not run, to keep the tree, and
 * to write nothing outside of its folder.
 */
export async function expectMirror({ service, user, folder, start }: Mirror): Promise<void> {
  const running = forTest()
  const run = () => running.adopt(start(), (program) => void program.kill())
  const put = (name: string, content = 'new') => upload(service, { user, name, content })
  const mirrored = () => treeOf(folder)

  for (const name of ['a', 'b', 'c d', 'photos/2026 ü/x?#%', 'kept/1']) await put(name, 'old')
  for (const marker of ['kept/', 'empty/folder/']) await put(marker, '')
  const first = run()
  const before = { a: 'old', b: 'old', 'c d': 'old', 'photos/2026 ü/x?#%': 'old', 'kept/1': 'old' }
  await expect.poll(mirrored).toEqual({ ...before, 'empty/folder/': '' })
  await put('a')
  await change(service, { user, name: 'b', body: { name: 'renamed ü' } })
  await change(service, { user, name: 'photos/2026 ü/x?#%', body: { name: 'films/2027/x' } })
  await change(service, { user, name: 'empty/folder/', body: { name: 'empty/other/' } })
  for (const name of ['c d', 'kept/1']) await remove(service, { user, name })
  const moved = { 'renamed ü': 'old', 'films/2027/x': 'old' }
  await expect.poll(mirrored).toEqual({ a: 'new', ...moved, 'kept/': '', 'empty/other/': '' })
  await end(first)

  for (const name of ['a', 'kept/', 'empty/other/']) await remove(service, { user, name })
  const outside = await temporaryFolder(running)
  await writeFile(join(outside, 'own'), 'own')
  await symlink(outside, join(folder, 'out'))
  await symlink(join(outside, 'own'), join(folder, 'own'))
  await mkdir(join(folder, 'stale/of'), { recursive: true })
  await writeFile(join(folder, 'stale/of/before'), '')
  for (const name of ['out/e', 'own', 'a/now/a folder']) await put(name)
  const second = run()
  const after = { ...moved, 'out/e': 'new', own: 'new', 'a/now/a folder': 'new' }
  await expect.poll(mirrored).toEqual(after)
  // No file system has both.
  await put('own/not here')
  await put('last')
  await expect.poll(mirrored).toEqual({ ...after, last: 'new' })
  expect(await treeOf(outside)).toEqual({ own: 'own' })
  await end(second)
}

const SHA256 = createHash('sha256').update('x').digest('hex')
const HOSTILE_CHANGES = [
  { type: 'file.created', name: '../created', sha256: SHA256 },
  { type: 'file.renamed', name: '../renamed', previous_name: 'good', sha256: SHA256 },
  { type: 'file.renamed', name: 'moved', previous_name: '../own', sha256: SHA256 },
  { type: 'file.deleted', name: 'a/../../own' },
  { type: 'file.created', name: '../folder/', sha256: SHA256 },
  { type: 'file.created', name: 'last', sha256: SHA256 },
]

/** Expects a mirror to stay within its folder, even if the service sends names that it refuses itself. */
export async function expectMirrorWithin(
  start: (mirror: { readonly url: string; readonly folder: string }) => ChildProcess,
): Promise<void> {
  const running = forTest()
  const outside = await temporaryFolder(running)
  await writeFile(join(outside, 'own'), 'x')
  const service = await startFakeService(({ url = '' }, response) => {
    if (url.startsWith('/users/me/changes')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      if (cursorOf(url) !== 'first') return response.flushHeaders()
      return response.write(
        HOSTILE_CHANGES.map((data, at) => `id: ${at}\ndata: ${JSON.stringify(data)}\n\n`).join(''),
      )
    }
    if (url.startsWith('/users/me/repo/'))
      return response.writeHead(200, { etag: '"x"', 'content-length': '1' }).end('x')
    const files = ['../listed', 'a/../../listed', '..', 'good'].map((name) => ({
      name,
      sha256: SHA256,
    }))
    return response.end(JSON.stringify({ files, changes_cursor: 'first', next_cursor: null }))
  })
  running.use(service)
  running.adopt(
    start({ url: service.url, folder: join(outside, 'copy') }),
    (program) => void program.kill(),
  )
  await expect.poll(() => treeOf(outside)).toEqual({ own: 'x', 'copy/good': 'x', 'copy/last': 'x' })
}

async function end(program: ChildProcess): Promise<void> {
  const exited = once(program, 'exit')
  program.kill()
  await exited
}

/** The contents of all files below a folder, and the empty folders, with a slash. */
async function treeOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const pairs = entries.map(async (entry) => {
    const path = join(entry.parentPath, entry.name)
    const name = relative(folder, path)
    if (!entry.isDirectory()) return [[name, await readFile(path, 'utf8').catch(() => '')]]
    return (await readdir(path).catch(() => [])).length === 0 ? [[`${name}/`, '']] : []
  })
  return Object.fromEntries((await Promise.all(pairs)).flat()) as Record<string, string>
}
