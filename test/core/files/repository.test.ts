import { sql } from 'kysely'
import type { Caller } from '../../../src/core/users/caller.ts'
import { callerNamed } from '../../support/caller.ts'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import type { PutObject } from '../../../src/core/objects/object-store.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import {
  brokenContent,
  contentOf,
  incomingFile,
  stalledContent,
  UNKNOWN_SIZE,
} from '../../support/http/incoming-file.ts'
import { bytesOf } from '../../support/objects.ts'
import {
  GARBAGE_DELAY_MS,
  leftovers,
  NOTHING_LEFT,
  openTestCore,
  settle,
  sweepOnce,
} from '../../support/service/test-core.ts'
import { createTestUser, openTestRepository } from '../../support/service/test-repository.ts'

const STEP = 8 * 2 ** 20
const THREE_BYTES = { min: 3, announced: 3 }
const bob = parseUserId('bob')

describe('upload', () => {
  it('answers with the file as it is recorded, and with the figures after it', async () => {
    await using core = await openTestCore({ baseCapacity: 100 })
    const { upload, stat, userId } = await openTestRepository(core)
    const { file, replaced, usage } = await upload('a.txt', 'hello')
    expect(file).toMatchObject({
      userId,
      name: 'a.txt',
      objectKey: `users/alice/${file.version}`,
      size: 5,
      sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
      visibility: 'private',
      createdAt: core.clock.now,
      updatedAt: core.clock.now,
    })
    expect(replaced).toBe(false)
    expect(usage).toEqual({ capacity: 100, used: 5, reserved: 0, fileCount: 1 })
    expect(await stat('a.txt')).toEqual(file)
  })

  it('is read back byte-exact (I1)', async () => {
    await using core = await openTestCore()
    const { upload, read } = await openTestRepository(core)
    await upload('a', 'hello')
    await settle(core)
    expect(await read('a')).toBe('hello')
  })

  it('replaces a file, whose creation time stays', async () => {
    await using core = await openTestCore()
    const { upload, read } = await openTestRepository(core)
    const first = await upload('a', 'old')
    core.clock.now += 1000
    const second = await upload('a', 'newer')
    expect(second.replaced).toBe(true)
    expect(second.file.createdAt).toBe(first.file.createdAt)
    expect(second.file.updatedAt).toBe(first.file.updatedAt + 1000)
    expect(second.usage).toMatchObject({ used: 5, fileCount: 1 })
    expect(await read('a')).toBe('newer')
  })

  it('keeps the visibility of the file it replaces, unless it says another', async () => {
    await using core = await openTestCore()
    const { upload } = await openTestRepository(core)
    await upload('a', '1', { visibility: 'public' })
    expect((await upload('a', '2')).file.visibility).toBe('public')
    expect((await upload('a', '3', { visibility: 'users' })).file.visibility).toBe('users')
  })

  it('keeps the replaced object for its readers, and no longer', async () => {
    await using core = await openTestCore()
    const { upload } = await openTestRepository(core)
    const { file } = await upload('a', 'old')
    await upload('a', 'new')
    const old = { key: file.objectKey, signal: AbortSignal.timeout(1000) }
    core.clock.now += GARBAGE_DELAY_MS - 1
    await sweepOnce(core)
    expect(await core.objects.head(old)).toEqual({ size: 3, metadata: { name: 'a' } })
    core.clock.now += 1
    await sweepOnce(core)
    expect(await core.objects.head(old)).toBeUndefined()
  })

  it('takes a file of 0 bytes into a repository without room', async () => {
    await using core = await openTestCore({ baseCapacity: 0 })
    const { upload, read } = await openTestRepository(core)
    expect((await upload('a', '')).usage).toMatchObject({ used: 0, fileCount: 1 })
    expect(await read('a')).toBe('')
  })

  it('names the file to the store as ASCII metadata, and never in the key', async () => {
    await using core = await openTestCore()
    const seen: PutObject[] = []
    const put = (object: PutObject): Promise<{ readonly size: number }> => {
      seen.push(object)
      return core.objects.put(object)
    }
    const { upload } = await openTestRepository(core, { objects: { put } })
    await upload('..\u202e ä😀', '1')
    expect(seen[0]?.metadata).toEqual({ name: '..%E2%80%AE%20%C3%A4%F0%9F%98%80' })
    expect(seen[0]?.key).toMatch(/^users\/alice\/[0-9a-f-]{36}$/)
  })

  it('runs beside others that replace the same file: one stands, none is lost count of', async () => {
    await using core = await openTestCore()
    const { upload, read, usage } = await openTestRepository(core)
    const contents = Array.from({ length: 8 }, (_, i) => String(i).repeat(10))
    await Promise.all(contents.map((content) => upload('a', content)))
    await settle(core)
    expect(contents).toContain(await read('a'))
    expect(await usage()).toMatchObject({ used: 10, reserved: 0, fileCount: 1 })
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })
})

describe('the size of an upload', () => {
  it('is refused by what is announced, before any byte is read', async () => {
    await using core = await openTestCore({ baseCapacity: 100 })
    const { upload } = await openTestRepository(core)
    const { content } = stalledContent('never read', '')
    const incoming = incomingFile('', { content, size: { min: 101, announced: 101 } })
    await expect(upload('a', incoming)).rejects.toMatchObject({ code: 'capacity_exceeded' })
    expect(content.readableFlowing).toBeNull()
  })

  it('may be the exact rest, with small fields after the file that make it look too large', async () => {
    await using core = await openTestCore({ baseCapacity: 100 })
    const { upload, read } = await openTestRepository(core)
    const size = { min: 40, announced: 140 }
    await upload('a', incomingFile('x'.repeat(100), { size }))
    expect(await read('a')).toBe('x'.repeat(100))
  })

  it('is refused at the byte too many when it was not certain at first', async () => {
    await using core = await openTestCore({ baseCapacity: 100 })
    const { upload, usage } = await openTestRepository(core)
    const size = { min: 40, announced: 140 }
    await expect(upload('a', incomingFile('x'.repeat(101), { size }))).rejects.toMatchObject({
      code: 'capacity_exceeded',
      facts: { requested: 140 },
    })
    expect(await usage()).toEqual({ capacity: 100, used: 0, reserved: 0, fileCount: 0 })
  })

  it('without a length grows by steps, and is refused at the exact byte', async () => {
    await using core = await openTestCore({ baseCapacity: STEP + 5 })
    const { upload, usage } = await openTestRepository(core)
    const chunks = (last: number): Buffer[] => [
      Buffer.alloc(1),
      Buffer.alloc(STEP),
      Buffer.alloc(last),
    ]
    const of = (last: number) =>
      incomingFile('', { content: contentOf(chunks(last)), size: UNKNOWN_SIZE })
    await expect(upload('a', of(5))).rejects.toMatchObject({ code: 'capacity_exceeded' })
    expect(await usage()).toMatchObject({ used: 0, reserved: 0 })
    await upload('a', of(4))
    expect(await usage()).toMatchObject({ used: STEP + 5, reserved: 0 })
  })

  it('is at most that of the largest file', async () => {
    await using core = await openTestCore()
    const { upload } = await openTestRepository(core, { maxFileSize: 10 })
    await upload('a', 'x'.repeat(10))
    const incoming = incomingFile('x'.repeat(11), { size: UNKNOWN_SIZE })
    await expect(upload('b', incoming)).rejects.toMatchObject({
      code: 'file_too_large',
      facts: { max_file_size: 10 },
    })
  })

  it('is refused as too large by what is announced, before any byte is read', async () => {
    await using core = await openTestCore()
    const { upload } = await openTestRepository(core, { maxFileSize: 10 })
    const { content } = stalledContent('never read', '')
    const incoming = incomingFile('', { content, size: { min: 11, announced: 11 } })
    await expect(upload('a', incoming)).rejects.toMatchObject({ code: 'file_too_large' })
    expect(content.readableFlowing).toBeNull()
  })

  it('of parallel tenths lets exactly ten in (I5)', async () => {
    await using core = await openTestCore({ baseCapacity: 100 })
    const { upload, usage } = await openTestRepository(core)
    const names = Array.from({ length: 20 }, (_, i) => `file-${i}`)
    const outcomes = await Promise.allSettled(names.map((name) => upload(name, 'x'.repeat(10))))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    expect(await usage()).toEqual({ capacity: 100, used: 100, reserved: 0, fileCount: 10 })
  })
})

describe('an upload that fails changes nothing that anyone can see (I2)', () => {
  const fault = new AppError('truncated_body', 'The body ended early.')

  it.each([
    ['whose request did not end well', incomingFile('new', { end: () => Promise.reject(fault) })],
    ['whose content broke off', incomingFile('', { content: brokenContent('ne', fault) })],
  ])('%s', async (_, incoming) => {
    await using core = await openTestCore()
    const { upload, read, usage } = await openTestRepository(core)
    await upload('a', 'old')
    await expect(upload('a', incoming)).rejects.toBe(fault)
    expect(await read('a')).toBe('old')
    expect(await usage()).toMatchObject({ used: 3, reserved: 0, fileCount: 1 })
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('whose signal aborted', async () => {
    await using core = await openTestCore()
    const { upload, read } = await openTestRepository(core)
    await upload('a', 'old')
    const { content, stalled } = stalledContent('ne', 'w')
    const abort = new AbortController()
    const uploading = upload('a', incomingFile('', { content, size: THREE_BYTES }), {
      signal: abort.signal,
    })
    void stalled.then(() => abort.abort(fault))
    await expect(uploading).rejects.toBe(fault)
    expect(await read('a')).toBe('old')
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it.each([
    ['suspended', 'user_suspended'],
    ['deleted', 'access_token_invalid'],
  ] as const)('whose user was %s meanwhile', async (status, code) => {
    await using core = await openTestCore()
    const { upload, userId } = await openTestRepository(core)
    const { content, stalled, go } = stalledContent('ne', 'w')
    const uploading = upload('a', incomingFile('', { content, size: UNKNOWN_SIZE }))
    await stalled
    if (status === 'deleted') await core.users.deleteUser(userId)
    else await core.users.setUserStatus(userId, status)
    go()
    await expect(uploading).rejects.toMatchObject({ code })
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('that the sweeper took because its lease had ended', async () => {
    await using core = await openTestCore()
    const { upload, read } = await openTestRepository(core)
    await upload('a', 'old')
    const { content, stalled, go } = stalledContent('ne', 'w')
    const uploading = upload('a', incomingFile('', { content, size: THREE_BYTES }))
    await stalled
    await settle(core)
    go()
    await expect(uploading).rejects.toMatchObject({ code: 'unavailable' })
    expect(await read('a')).toBe('old')
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })
})

describe('admit', () => {
  it('refuses what is certain not to fit, and reserves nothing', async () => {
    await using core = await openTestCore({ baseCapacity: 100 })
    const { upload, repository, caller, usage } = await openTestRepository(core)
    await upload('a', 'x'.repeat(60))
    const admit = (name: string, min: number): Promise<void> =>
      repository.admit({ ...caller, name: parseFileName(name), min })
    await admit('b', 40)
    await expect(admit('b', 41)).rejects.toMatchObject({
      code: 'capacity_exceeded',
      facts: { capacity: 100, used: 60, requested: 41, available: 40 },
    })
    await admit('a', 100)
    await expect(admit('a', 101)).rejects.toMatchObject({ code: 'capacity_exceeded' })
    expect(await usage()).toMatchObject({ used: 60, reserved: 0 })
  })

  it('refuses what does not fit beside what is kept of replaced and deleted files', async () => {
    await using core = await openTestCore()
    const { repository, userId, caller } = await openTestRepository(core)
    const admit = (): Promise<void> =>
      repository.admit({ ...caller, name: parseFileName('a'), min: 1 })
    await admit()
    await sql`
      INSERT INTO garbage (object_key, not_before, user_id, bytes)
      VALUES ('k', ${core.clock.now + 5_000}, ${userId}, ${2 ** 30})
    `.execute(core.database.kysely)
    await expect(admit()).rejects.toMatchObject({
      code: 'too_many_requests',
      facts: { retry_after: 5 },
    })
  })

  it('refuses one file too many, and a file too large', async () => {
    await using core = await openTestCore()
    const options = { maxFiles: 1, maxFileSize: 10 }
    const { upload, repository, caller } = await openTestRepository(core, options)
    await upload('a', 'x')
    const admit = (name: string, min: number): Promise<void> =>
      repository.admit({ ...caller, name: parseFileName(name), min })
    await expect(admit('b', 1)).rejects.toMatchObject({ code: 'file_count_exceeded' })
    await expect(admit('a', 11)).rejects.toMatchObject({ code: 'file_too_large' })
    await admit('a', 10)
  })

  it('admits a shrinking overwrite into a repository over its capacity', async () => {
    await using core = await openTestCore({ baseCapacity: 0 })
    const { upload, repository, userId, caller } = await openTestRepository(core)
    const grant = { userId, source: 'gift', reference: '1', model: undefined }
    await core.users.putGrant({
      ...grant,
      bytes: 10,
      startsAt: undefined,
      endsAt: core.clock.now + 1,
    })
    await upload('a', 'x'.repeat(10))
    core.clock.now += 1
    await repository.admit({ ...caller, name: parseFileName('a'), min: 10 })
    expect((await upload('a', 'x'.repeat(9))).usage).toMatchObject({ capacity: 0, used: 9 })
  })
})

describe('who may see a file', () => {
  it.each([
    ['private', { owner: true, other: false, anyone: false }],
    ['users', { owner: true, other: true, anyone: false }],
    ['public', { owner: true, other: true, anyone: true }],
  ] as const)('that is %s', async (visibility, seen) => {
    await using core = await openTestCore()
    const { upload, repository, userId, caller } = await openTestRepository(core)
    await upload('a', 'hello', { visibility })
    const request = { userId, name: parseFileName('a'), signal: AbortSignal.timeout(1000) }
    const other = { userId: bob, userCreatedAt: 0 }
    const sees = async (viewer: Caller | undefined): Promise<boolean> => {
      const found = await repository.stat({ ...request, viewer }).catch(notFound)
      const opened = await repository.open({ ...request, viewer }).catch(notFound)
      expect(opened === 'not_found').toBe(found === 'not_found')
      return opened !== 'not_found' && String(await bytesOf(opened.body)) === 'hello'
    }
    const found = {
      owner: await sees(caller),
      other: await sees(other),
      anyone: await sees(undefined),
    }
    expect(found).toEqual(seen)
  })

  it('is no one while its user is suspended, not even of a public one', async () => {
    await using core = await openTestCore()
    const { upload, stat, userId } = await openTestRepository(core)
    await upload('a', 'hello', { visibility: 'public' })
    await core.users.setUserStatus(userId, 'suspended')
    await expect(stat('a', bob)).rejects.toMatchObject({ code: 'not_found' })
    await core.users.setUserStatus(userId, 'active')
    expect(await stat('a')).toMatchObject({ size: 5 })
  })

  it('is told in the same words when there is none, and when there is no such user', async () => {
    await using core = await openTestCore()
    const { upload, repository, userId } = await openTestRepository(core)
    const viewer = await callerNamed(core.users, await createTestUser(core, 'bob'))
    await upload('a', 'hello')
    const name = parseFileName('a')
    const refusals = [
      repository.stat({ userId, name, viewer }),
      repository.stat({ userId: bob, name, viewer }),
      repository.stat({ userId: parseUserId('nobody'), name, viewer }),
    ]
    for (const refusal of refusals) {
      await expect(refusal).rejects.toMatchObject({
        code: 'not_found',
        message: 'The file was not found.',
        facts: {},
      })
    }
  })
})

function notFound(error: unknown): 'not_found' {
  expect(error).toMatchObject({ code: 'not_found' })
  return 'not_found'
}

describe('reportCapacity', () => {
  it('tells a caller who was deleted since from one who has nothing', async () => {
    await using core = await openTestCore({ baseCapacity: 100 })
    const { repository, caller, upload } = await openTestRepository(core)
    await upload('a', 'hello')
    expect(await repository.reportCapacity(caller)).toMatchObject({ usage: { used: 5 } })
    await core.users.deleteUser(caller.userId)
    const refused = repository.reportCapacity(caller)
    await expect(refused).rejects.toMatchObject({ code: 'access_token_invalid' })
  })
})
