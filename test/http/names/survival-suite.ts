import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../../packages/js/src/client.ts'
import { nameIn } from '../../../src/core/files/object-metadata.ts'
import type { ObjectKey } from '../../../src/core/objects/object-key.ts'
import { SPELLINGS } from '../../support/names/spellings.ts'
import { contentFor, fileNames } from '../../support/names/valid-names.ts'
import { isWithoutZip, readZip } from '../../support/read-zip.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { batchOf } from '../batch/batch-requests.ts'
import { change, namesOf, namesOfAll, remove } from '../file-requests.ts'
import { ask, download, jsonOf, MIB, type OpenService, secretOf, upload } from '../fixture.ts'
import { createLink, visit } from '../links/link-requests.ts'
import { append, createUpload } from '../resumable/tus-requests.ts'

const HOUR_MS = 3_600_000

/** Names of one account, no two of which are the same. */
interface Stored {
  readonly service: TestService
  readonly user: TestUser
  readonly names: readonly string[]
}

interface SurvivalSuite {
  /** Of random names. */
  readonly runs: number
  readonly names: readonly string[]
}

/** A name is what it was, byte by byte, wherever it has gone through. */
export function survivalSuite(open: OpenService, { runs, names }: SurvivalSuite): void {
  describe('every valid name', () => {
    let service: TestService
    beforeAll(async () => {
      service = await open({ historyLifetimeMs: HOUR_MS })
    })
    afterAll(() => service.stop())

    it.each(WAYS)('survives %s', async (_way, survive) => {
      const user = await service.createUser(MIB)
      await expect(survive({ service, user, names })).resolves.toBeUndefined()
    })

    it('survives all of these, whatever it is (property)', async () => {
      const some = fc.uniqueArray(fileNames, { minLength: 1, maxLength: 5 })
      const property = fc.asyncProperty(some, async (names) => {
        const user = await service.createUser(MIB)
        for (const [, survive] of WAYS) await survive({ service, user, names })
      })
      await expect(
        fc.assert(property, { numRuns: runs, endOnFailure: true }),
      ).resolves.toBeUndefined()
    })
  })
}

const WAYS: readonly (readonly [way: string, survive: (stored: Stored) => Promise<void>])[] = [
  ['a form and a raw body, in each spelling of the URL', surviveUploads],
  ['a resumable upload', surviveTus],
  ['listings', surviveListings],
  ['folders that are rolled up', surviveFolders],
  ['a rename and a batch', surviveRenames],
  ['a link', surviveLinks],
  ['an archive', surviveArchives],
  ['the history', surviveHistory],
  ['the changes', surviveChanges],
  ['the metadata of the object', surviveMetadata],
  ['the package for TypeScript', survivePackage],
]

async function surviveUploads({ service, user, names }: Stored): Promise<void> {
  for (const name of names) {
    const content = contentFor(name)
    for (const [at, [, spell]] of SPELLINGS.entries()) {
      const path = `/users/me/repo/${spell(name)}`
      const method = at % 2 === 0 ? 'POST' : 'PUT'
      const reply = await upload(service, { method, user, path, content })
      expect({ path, status: reply.status, ...jsonOf(reply) }).toMatchObject({ status: 200, name })
    }
    for (const [, spell] of SPELLINGS) {
      for (const owner of ['me', user.userId]) {
        const path = `/users/${owner}/repo/${spell(name)}`
        const { status, body, headers } = await ask(service, { user, path })
        expect({ path, status, body: body.toString() }).toEqual({
          path,
          status: 200,
          body: content,
        })
        expect(savedName(headers['content-disposition'])).toBe(lastSegment(name))
      }
    }
  }
}

async function surviveTus({ service, user, names }: Stored): Promise<void> {
  for (const name of names) {
    const content = contentFor(name)
    const length = Buffer.byteLength(content)
    const created = await createUpload(service, { user, name, length })
    if (length > 0) await append(service, created, { body: content })
    const finished = await ask(service, { user, path: created.path })
    expect(jsonOf(finished)).toMatchObject({ name, state: 'finished', file: { name } })
  }
}

async function surviveListings({ service, user, names }: Stored): Promise<void> {
  await storeAll({ service, user, names })
  const sorted = bytewise(names)
  expect(await namesOfAll(service, { user, query: { limit: 3 } })).toEqual(sorted)
  const backwards = await namesOfAll(service, { user, query: { limit: 3, order: '-name' } })
  expect(backwards).toEqual(sorted.toReversed())
  for (const name of names) {
    const below = sorted.filter((each) => each.startsWith(name))
    expect(await namesOf(service, { user, query: { prefix: name } })).toEqual(below)
  }
}

/** From the top, each folder once, until all files have been seen. */
async function surviveFolders({ service, user, names }: Stored): Promise<void> {
  await storeAll({ service, user, names })
  const seen: string[] = []
  const folders = ['']
  for (const prefix of folders) {
    const query = `delimiter=%2F&limit=1000&prefix=${encodeURIComponent(prefix)}`
    const page = jsonOf(await ask(service, { user, path: `/users/me/repo?${query}` }))
    const { files, prefixes } = page as unknown as Folder
    seen.push(...files.map(({ name }) => name))
    for (const { name } of files) expect(name.slice(prefix.length)).not.toMatch(/\/./)
    for (const folder of prefixes) expect(folder.slice(prefix.length)).toMatch(/^[^/]+\/$/)
    folders.push(...prefixes)
  }
  expect(new Set(folders).size).toBe(folders.length)
  expect(bytewise(seen)).toEqual(bytewise(names))
}

interface Folder {
  readonly files: readonly { readonly name: string }[]
  readonly prefixes: readonly string[]
}

async function surviveRenames({ service, user, names }: Stored): Promise<void> {
  await storeAll({ service, user, names })
  // Longer names cannot have another ending, and those of folders stand for nothing else.
  for (const [at, name] of names.entries()) {
    const other = name.endsWith('/') ? `moved-${at}/` : `moved-${at}`
    const moved = await change(service, { user, name, body: { name: other } })
    expect({ of: name, ...jsonOf(moved) }).toMatchObject({ of: name, name: other })
    const back = { op: 'rename', name: other, new_name: name }
    const reply = await batchOf(service, { user, operations: [back] })
    expect({ status: reply.status, ...jsonOf(reply) }).toMatchObject({
      status: 200,
      results: [{ name: other, file: { name } }],
    })
    const { body } = await download(service, { user, name })
    expect(body.toString()).toBe(contentFor(name))
  }
}

async function surviveLinks({ service, user, names }: Stored): Promise<void> {
  await storeAll({ service, user, names })
  const token = secretOf(user)
  for (const name of names) {
    const content = contentFor(name)
    const alone = await createLink(service, { token, kind: 'download', name })
    const prefix = folderOf(name)
    const below = await createLink(service, { token, kind: 'download', prefix })
    const shown = name.slice(prefix.length)
    for (const [, spell] of SPELLINGS) {
      for (const [secret, asked] of [
        [alone.secret, name],
        [below.secret, shown],
      ] as const) {
        const path = `/links/${secret}/${spell(asked)}`
        const { status, body } = await ask(service, { path })
        expect({ path, status, body: body.toString() }).toEqual({
          path,
          status: 200,
          body: content,
        })
      }
    }
    const seen = (await (
      await visit(service, { secret: below.secret, path: '?limit=1000' })
    ).json()) as Folder
    const expected = names
      .filter((each) => each.startsWith(prefix) && each !== prefix)
      .map((each) => each.slice(prefix.length))
    expect(bytewise(seen.files.map((file) => file.name))).toEqual(bytewise(expected))
    for (const { link_id: id } of [alone, below]) {
      await ask(service, { user, method: 'DELETE', path: `/users/me/links/${id}` })
    }
    // A drop puts the file under the prefix of the link.
    const drop = await createLink(service, { token, kind: 'drop', prefix })
    await remove(service, { user, name })
    const dropped = await upload(service, {
      method: 'PUT',
      path: `/links/${drop.secret}/${SPELLINGS[1]?.[1](shown)}`,
      content,
    })
    expect({ of: name, ...jsonOf(dropped) }).toMatchObject({ name: shown })
    expect((await download(service, { user, name })).body.toString()).toBe(content)
    await ask(service, { user, method: 'DELETE', path: `/users/me/links/${drop.link_id}` })
  }
}

/** As Python's reader finds them, also those of a folder, which are relative to what it is in. */
async function surviveArchives({ service, user, names }: Stored): Promise<void> {
  if (isWithoutZip) return
  await storeAll({ service, user, names })
  const folders = new Set(names.map((name) => name.slice(0, name.lastIndexOf('/') + 1)))
  for (const prefix of ['', ...[...folders].filter(Boolean).slice(0, MOST_FOLDERS)]) {
    const parent = folderOf(prefix)
    const below = names.filter((name) => name.startsWith(prefix))
    const entriesOf = (files: readonly string[]): readonly string[] =>
      files.map((name) => `${name.slice(parent.length)}: ${Buffer.byteLength(contentFor(name))}`)
    const link = await createLink(service, { token: secretOf(user), kind: 'download', prefix })
    // The marker of the folder itself has no name by the link.
    const seen = below.filter((name) => name !== prefix)
    for (const [path, files] of [
      [`/users/me/archive?prefix=${encodeURIComponent(prefix)}`, below],
      [`/links/${link.secret}?format=zip`, seen],
    ] as const) {
      const { body } = await ask(service, { user, path })
      const entries = (await readZip(body)).map(({ name, size }) => `${name}: ${size}`)
      const expected = { path, entries: bytewise(entriesOf(files)) }
      expect({ path, entries: bytewise(entries) }).toEqual(expected)
    }
  }
}

/** A reader is two processes. */
const MOST_FOLDERS = 1

async function surviveHistory({ service, user, names }: Stored): Promise<void> {
  await storeAll({ service, user, names })
  for (const name of names) {
    expect((await remove(service, { user, name })).status).toBe(204)
    const query = `name=${encodeURIComponent(name)}&limit=1`
    const past = jsonOf(await ask(service, { user, path: `/users/me/history?${query}` }))
    expect(past).toMatchObject({ versions: [{ name, ended_as: 'deleted' }] })
    const [{ version } = { version: '' }] = past['versions'] as { readonly version: string }[]
    const old = await download(service, { user, path: `/users/me/history/${version}` })
    expect(savedName(old.headers['content-disposition'])).toBe(lastSegment(name))
    const path = `/users/me/history/${version}/restore`
    const restored = await ask(service, { user, method: 'POST', path })
    expect(jsonOf(restored)).toMatchObject({ name, version })
    expect((await download(service, { user, name })).body.toString()).toBe(contentFor(name))
  }
  expect(await namesOfAll(service, { user, query: { limit: 100 } })).toEqual(bytewise(names))
}

async function surviveChanges({ service, user, names }: Stored): Promise<void> {
  const { changes_cursor: cursor } = jsonOf(await ask(service, { user, path: '/users/me/repo' }))
  await storeAll({ service, user, names })
  const path = `/users/me/changes?limit=1000&cursor=${String(cursor)}`
  const { changes } = jsonOf(await ask(service, { user, path })) as {
    readonly changes: readonly { readonly name: string }[]
  }
  expect(changes.map(({ name }) => name)).toEqual(names)
}

/** What a rebuild reads. */
async function surviveMetadata({ service, user, names }: Stored): Promise<void> {
  await storeAll({ service, user, names })
  const signal = AbortSignal.timeout(60_000)
  const recorded = new Set<string | undefined>()
  for (const key of await service.storedKeys(user)) {
    const head = await service.objects.head({ key: key as ObjectKey, signal })
    recorded.add(head && nameIn(head.metadata))
  }
  expect(names.filter((name) => !recorded.has(name))).toEqual([])
}

async function survivePackage({ service, user, names }: Stored): Promise<void> {
  const { files, history } = createClient({ url: service.url, token: secretOf(user) })
  const stored: string[] = []
  for (const name of names) {
    const bytes = Buffer.from(contentFor(name))
    expect(await files.upload(name, new Uint8Array(bytes))).toMatchObject({ name })
    expect(await files.get(name)).toMatchObject({ name, size: bytes.length })
    const { stream } = await files.download(name)
    expect(await new Response(stream).text()).toBe(contentFor(name))
    const other = name.endsWith('/') ? 'moved/' : 'moved'
    expect(await files.rename(name, other)).toMatchObject({ name: other })
    expect(await files.rename(other, name)).toMatchObject({ name })
    await files.delete(name)
    for await (const { version } of history.list({ name })) {
      expect(await history.restore(version)).toMatchObject({ name })
      break
    }
  }
  for await (const { name } of files.list()) stored.push(name)
  expect(stored).toEqual(bytewise(names))
}

async function storeAll({ service, user, names }: Stored): Promise<void> {
  for (const name of names) {
    const reply = await upload(service, { method: 'PUT', user, name, content: contentFor(name) })
    expect({ name, status: reply.status }).toEqual({ name, status: 200 })
  }
}

function bytewise(names: readonly string[]): string[] {
  return names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

/** What a name or folder is in. */
function folderOf(name: string): string {
  return name.slice(0, name.lastIndexOf('/', name.length - 2) + 1)
}

/** The name under which a client that knows RFC 8187 saves a download. */
function savedName(disposition = ''): string {
  return decodeURIComponent(/filename\*=UTF-8''([^;]*)$/.exec(disposition)?.[1] ?? '')
}

function lastSegment(name: string): string {
  return name.split('/').findLast((segment) => segment !== '') ?? ''
}
