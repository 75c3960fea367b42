import { describe, expect, it } from 'vitest'
import { parseFileName, parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import {
  FILE_ORDERS,
  type FilePosition,
  MAX_SCANNED_FILES,
  positionOf,
} from '../../../src/core/files/listing.ts'
import type { Ledger } from '../../../src/core/ledger/ledger.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import {
  GARBAGE_DELAY_MS,
  leftovers,
  NOTHING_LEFT,
  openTestCore,
  settle,
  sweepOnce,
} from '../../support/service/test-core.ts'
import { bytesOf } from '../../support/objects.ts'
import { openTestRepository } from '../../support/service/test-repository.ts'

const [a, b] = [parseFileName('a'), parseFileName('b')]
const ALL = { prefix: parseFileNamePrefix(''), order: 'name', after: undefined, limit: 10 } as const
const unchanged = { newName: undefined, visibility: undefined, overwrite: false } as const

const BOB = { userId: parseUserId('bob'), userCreatedAt: 0 }

describe('list', () => {
  it('shows each viewer the files that they may download', async () => {
    await using core = await openTestCore()
    const { upload, repository, userId, caller } = await openTestRepository(core)
    await upload('a', '1')
    await upload('b', '2', { visibility: 'users' })
    await upload('c', '3', { visibility: 'public' })
    const seenBy = async (viewer: string | undefined): Promise<string> => {
      const page = {
        userId,
        ...ALL,
        viewer: viewer === 'alice' ? caller : viewer === undefined ? undefined : BOB,
      }
      return (await repository.list(page)).files.map(({ name }) => name).join('')
    }
    expect([await seenBy('alice'), await seenBy('bob'), await seenBy(undefined)]).toEqual([
      'abc',
      'bc',
      'c',
    ])
  })

  it('is empty for a user that does not exist', async () => {
    await using core = await openTestCore()
    const { repository } = await openTestRepository(core)
    const nobody = parseUserId('nobody')
    const page = { userId: nobody, viewer: undefined, ...ALL }
    expect(await repository.list(page)).toEqual({ files: [], next: undefined })
  })

  it.each([
    ['suspended', 'user_suspended'],
    ['deleted', 'access_token_invalid'],
  ] as const)(
    'tells an owner who was %s why there is nothing, and nobody else',
    async (status, code) => {
      await using core = await openTestCore()
      const { upload, repository, stat, userId, caller } = await openTestRepository(core)
      await upload('a', 'hello', { visibility: 'public' })
      if (status === 'deleted') await core.users.deleteUser(userId)
      else await core.users.setUserStatus(userId, status)
      await expect(repository.list({ userId, viewer: caller, ...ALL })).rejects.toMatchObject({
        code,
      })
      await expect(stat('a')).rejects.toMatchObject({ code })
      const other = { userId, viewer: BOB, ...ALL }
      expect(await repository.list(other)).toEqual({ files: [], next: undefined })
      await expect(stat('a', BOB.userId)).rejects.toMatchObject({ code: 'not_found' })
    },
  )

  it('is empty for an owner who has nothing', async () => {
    await using core = await openTestCore()
    const { repository, userId, caller } = await openTestRepository(core)
    expect((await repository.list({ userId, viewer: caller, ...ALL })).files).toEqual([])
  })

  it('says where the next page begins exactly when there is more', async () => {
    await using core = await openTestCore()
    const { upload, repository, userId, caller } = await openTestRepository(core)
    const list = (limit: number, after?: FilePosition) =>
      repository.list({ userId, viewer: caller, ...ALL, limit, after })
    expect((await list(1)).next).toBeUndefined()
    for (const name of ['a', 'b', 'c', 'd']) await upload(name, name)
    for (const limit of [1, 2, 3]) {
      const { files, next } = await list(limit)
      expect(files).toHaveLength(limit)
      expect(next).toEqual({ name: files.at(-1)?.name, value: 0 })
    }
    for (const limit of [4, 5]) {
      const { files, next } = await list(limit)
      expect(files).toHaveLength(4)
      expect(next).toBeUndefined()
    }
    const last = await list(2, (await list(2)).next)
    expect(last.files.map(({ name }) => name)).toEqual(['c', 'd'])
    expect(last.next).toBeUndefined()
  })

  it.each(FILE_ORDERS)('by %s reads on from what it said', async (order) => {
    await using core = await openTestCore()
    const { upload, repository, userId, caller } = await openTestRepository(core)
    for (const [index, name] of ['c', 'a', 'd', 'b', 'e'].entries()) {
      core.clock.now += index % 2
      await upload(name, 'x'.repeat(index % 3))
    }
    const page = { userId, viewer: caller, ...ALL, order }
    const whole = (await repository.list(page)).files
    const first = await repository.list({ ...page, limit: 2 })
    const second = await repository.list({ ...page, limit: 2, after: first.next })
    const third = await repository.list({ ...page, limit: 2, after: second.next })
    expect([...first.files, ...second.files, ...third.files]).toEqual(whole)
    expect(first.next).toEqual(first.files[1] && positionOf(first.files[1], order))
    expect(third.next).toBeUndefined()
  })
})

describe('a listing that has looked at as many files as it may', () => {
  const scannedTo = { name: b, value: 7 }
  const ALL_OF_A_SIZE = { ...ALL, order: 'size', prefix: parseFileNamePrefix('a') } as const

  it('says where the next page continues, even without a file', async () => {
    await using core = await openTestCore()
    const { userId, caller: viewer, upload } = await openTestRepository(core)
    const { file } = await upload('a', '1')
    const asked: number[] = []
    for (const files of [[], [file]]) {
      const listFiles: Ledger['listFiles'] = async ({ maxScanned }) => {
        asked.push(maxScanned)
        return { files, scannedTo }
      }
      const { repository } = await openTestRepository(core, { ledger: { listFiles } })
      const page = await repository.list({ userId, viewer, ...ALL_OF_A_SIZE })
      expect(page).toEqual({ files, next: scannedTo })
    }
    expect(asked).toEqual([MAX_SCANNED_FILES, MAX_SCANNED_FILES])
  })

  it('continues after its last file if the page is full', async () => {
    await using core = await openTestCore()
    const { userId, caller: viewer, upload } = await openTestRepository(core)
    const { file } = await upload('a', '1')
    const listFiles = async () => ({ files: [file, file], scannedTo })
    const { repository } = await openTestRepository(core, { ledger: { listFiles } })
    const page = await repository.list({ userId, viewer, ...ALL_OF_A_SIZE, limit: 1 })
    expect(page).toEqual({ files: [file], next: { name: a, value: 1 } })
  })
})

describe('remove', () => {
  it('takes a file away at once, and its object when readers had their time', async () => {
    await using core = await openTestCore()
    const { upload, repository, stat, usage, caller } = await openTestRepository(core)
    const { file } = await upload('a', 'hello')
    await repository.remove({ ...caller, name: a })
    await expect(stat('a')).rejects.toMatchObject({ code: 'not_found' })
    expect(await usage()).toMatchObject({ used: 0, reserved: 0, fileCount: 0 })
    core.clock.now += GARBAGE_DELAY_MS - 1
    await sweepOnce(core)
    expect((await leftovers(core)).orphans).toEqual([file.objectKey])
    core.clock.now += 1
    await sweepOnce(core)
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('lets a download that has begun go on', async () => {
    await using core = await openTestCore()
    const { upload, repository, userId, caller } = await openTestRepository(core)
    await upload('a', 'hello')
    const signal = AbortSignal.timeout(1000)
    const { body } = await repository.open({ userId, name: a, viewer: caller, signal })
    await repository.remove({ ...caller, name: a })
    expect(String(await bytesOf(body))).toBe('hello')
  })

  it('hands its precondition on', async () => {
    await using core = await openTestCore()
    const { upload, repository, caller, read } = await openTestRepository(core)
    const { file } = await upload('a', 'hello')
    const removal = { ...caller, name: a, precondition: { ifMatch: ['another'] } }
    await expect(repository.remove(removal)).rejects.toMatchObject({ code: 'precondition_failed' })
    expect(await read('a')).toBe('hello')
    await repository.remove({ ...removal, precondition: { ifMatch: [file.version] } })
  })
})

describe('change', () => {
  it('renames without touching the object, also a download under way', async () => {
    await using core = await openTestCore()
    const { upload, repository, read, stat, userId, caller } = await openTestRepository(core, {
      objects: { remove: () => Promise.reject(new Error('touched')) },
    })
    const { file } = await upload('a', 'hello')
    const signal = AbortSignal.timeout(1000)
    const opened = await repository.open({ userId, name: a, viewer: caller, signal })
    const changed = await repository.change({ ...caller, name: a, ...unchanged, newName: b })
    expect(changed).toEqual({ ...file, name: 'b' })
    expect(String(await bytesOf(opened.body))).toBe('hello')
    await expect(stat('a')).rejects.toMatchObject({ code: 'not_found' })
    await settle(core)
    expect(await read('b')).toBe('hello')
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('replaces a file of the new name when told to, whose object goes in time', async () => {
    await using core = await openTestCore()
    const { upload, repository, read, usage, caller } = await openTestRepository(core)
    await upload('a', 'hello')
    const { file } = await upload('b', 'other!')
    const rename = { ...caller, name: a, ...unchanged, newName: b }
    await expect(repository.change(rename)).rejects.toMatchObject({ code: 'file_exists' })
    await repository.change({ ...rename, overwrite: true })
    expect(await usage()).toMatchObject({ used: 5, reserved: 0, fileCount: 1 })
    expect((await leftovers(core)).orphans).toEqual([file.objectKey])
    await settle(core)
    expect(await read('b')).toBe('hello')
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('opens a file to others and closes it again', async () => {
    await using core = await openTestCore()
    const { upload, repository, stat, caller } = await openTestRepository(core)
    const bob = parseUserId('bob')
    await upload('a', 'hello')
    await expect(stat('a', bob)).rejects.toMatchObject({ code: 'not_found' })
    await repository.change({ ...caller, name: a, ...unchanged, visibility: 'users' })
    expect(await stat('a', bob)).toMatchObject({ visibility: 'users' })
    await repository.change({ ...caller, name: a, ...unchanged, visibility: 'private' })
    await expect(stat('a', bob)).rejects.toMatchObject({ code: 'not_found' })
  })
})
