import { describe, expect, it } from 'vitest'
import { parseFileName, parseFileNamePrefix } from '../../src/core/files/file-name.ts'
import { MAX_SCANNED_FILES } from '../../src/core/files/listing.ts'
import type { Ledger } from '../../src/database/ledger.ts'
import { parseUserId } from '../../src/core/users/user-id.ts'
import { authorized } from '../support/caller.ts'
import {
  GARBAGE_DELAY_MS,
  leftovers,
  NOTHING_LEFT,
  openTestCore,
  settle,
  sweepOnce,
} from '../support/service/test-core.ts'
import { openTestRepository } from '../support/service/test-repository.ts'

const [a, b] = [parseFileName('a'), parseFileName('b')]
const ALL = { prefix: parseFileNamePrefix(''), order: 'name', after: undefined, limit: 10 } as const
const unchanged = { newName: undefined, visibility: undefined, overwrite: false } as const

const BOB = authorized({ userId: parseUserId('bob'), userCreatedAt: 0 })

describe('list', () => {
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
      expect(await repository.list(other)).toEqual({ files: [], prefixes: [], next: undefined })
      await expect(stat('a', BOB.userId)).rejects.toMatchObject({ code: 'not_found' })
    },
  )
})

it('a listing reads at most so many rows, and says where the next page continues', async () => {
  await using core = await openTestCore()
  const { userId, caller: viewer, upload } = await openTestRepository(core)
  const { file } = await upload('a', '1')
  const next = { name: b, value: 7 }
  const asked: number[] = []
  for (const files of [[], [file]]) {
    const listFiles: Ledger['listFiles'] = async ({ maxScanned }) => {
      asked.push(maxScanned)
      return { files, prefixes: [], next }
    }
    const { repository } = await openTestRepository(core, { ledger: { listFiles } })
    const page = await repository.list({ userId, viewer, ...ALL })
    expect(page).toEqual({ files, prefixes: [], next })
  }
  expect(asked).toEqual([MAX_SCANNED_FILES, MAX_SCANNED_FILES])
})

describe('remove', () => {
  it('takes a file away at once, and its object when readers had their time', async () => {
    await using core = await openTestCore()
    const { upload, repository, stat, usage, caller } = await openTestRepository(core)
    const { file } = await upload('a', 'hello')
    await repository.remove({ subject: caller, name: a })
    await expect(stat('a')).rejects.toMatchObject({ code: 'not_found' })
    expect(await usage()).toMatchObject({ used: 0, reserved: 0, fileCount: 0 })
    core.clock.now += GARBAGE_DELAY_MS - 1
    await sweepOnce(core)
    expect((await leftovers(core)).orphans).toEqual([file.objectKey])
    core.clock.now += 1
    await sweepOnce(core)
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })
})

describe('change', () => {
  it('replaces a file of the new name when told to, whose object goes in time', async () => {
    await using core = await openTestCore()
    const { upload, repository, read, usage, caller } = await openTestRepository(core)
    await upload('a', 'hello')
    const { file } = await upload('b', 'other!')
    const rename = { subject: caller, name: a, ...unchanged, newName: b }
    await expect(repository.change(rename)).rejects.toMatchObject({ code: 'file_exists' })
    await repository.change({ ...rename, overwrite: true })
    expect(await usage()).toMatchObject({ used: 5, reserved: 0, fileCount: 1 })
    expect((await leftovers(core)).orphans).toEqual([file.objectKey])
    await settle(core)
    expect(await read('b')).toBe('hello')
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })
})
