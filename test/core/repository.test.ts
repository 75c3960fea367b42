import { describe, expect, it } from 'vitest'
import { parseFileName } from '../../src/core/files/file-name.ts'
import type { PutObject } from '../../src/core/objects/object-store.ts'
import { incomingFile, stalledContent } from '../support/http/incoming-file.ts'
import { leftovers, NOTHING_LEFT, openTestCore, settle } from '../support/service/test-core.ts'
import { openTestRepository } from '../support/service/test-repository.ts'

const THREE_BYTES = { min: 3, announced: 3 }

describe('upload', () => {
  it('names the file to the store as ASCII metadata, and never in the key', async () => {
    await using core = await openTestCore()
    const seen: PutObject[] = []
    const put = (object: PutObject): Promise<{ readonly size: number }> => {
      seen.push(object)
      return core.objects.put(object)
    }
    const { upload } = await openTestRepository(core, { objects: { put } })
    await upload('..\u202e ä😀', '1')
    expect(seen[0]?.metadata).toEqual({ name: Buffer.from('..\u202e ä😀').toString('base64url') })
    expect(seen[0]?.key).toMatch(/^users\/alice\/[0-9a-f-]{36}$/)
  })
})

describe('an upload that the sweeper took because its lease had ended', () => {
  it('changes nothing that anyone can see (I2)', async () => {
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
      repository.admit({ subject: caller, name: parseFileName(name), min })
    await admit('b', 40)
    await expect(admit('b', 41)).rejects.toMatchObject({
      code: 'capacity_exceeded',
      facts: { capacity: 100, used: 60, requested: 41, available: 40 },
    })
    await admit('a', 100)
    await expect(admit('a', 101)).rejects.toMatchObject({ code: 'capacity_exceeded' })
    expect(await usage()).toMatchObject({ used: 60, reserved: 0 })
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
    await repository.admit({ subject: caller, name: parseFileName('a'), min: 10 })
    expect((await upload('a', 'x'.repeat(9))).usage).toMatchObject({ capacity: 0, used: 9 })
  })
})

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
