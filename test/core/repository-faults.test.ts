import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { parseFileName } from '../../src/core/files/file-name.ts'
import type { AbortUpload, BeginUpload } from '../../src/core/uploads/upload-ledger.ts'
import type { Ledger } from '../../src/database/ledger.ts'
import type { NamedObject } from '../../src/core/objects/object-key.ts'
import {
  commitLost,
  commitUnanswered,
  failingPut,
  hangingPut,
  onceFailing,
  outage,
  truncatingPut,
} from '../support/faults/faults.ts'
import { incomingFile, stalledContent } from '../support/http/incoming-file.ts'
import {
  LEASE_MS,
  leftovers,
  NOTHING_LEFT,
  openTestCore,
  RETENTION_MS,
  settle,
  sweepOnce,
  type TestCore,
} from '../support/service/test-core.ts'
import { openOverwrite, openTestRepository } from '../support/service/test-repository.ts'
import { outcomeOf } from './ledger/fixture.ts'

const unavailable = { code: 'unavailable' }

async function storedCount({ objects }: TestCore): Promise<number> {
  const listing = objects.list({ prefix: 'users/', signal: AbortSignal.timeout(1000) })
  return (await Array.fromAsync(listing)).length
}

async function failing(): Promise<never> {
  throw outage()
}

describe('an object store', () => {
  it('a store that fails keeps the old file, and nothing else (I2)', async () => {
    await using core = await openTestCore()
    const { faulty, read, usage } = await openOverwrite(core, { objects: { put: failingPut } })
    await expect(faulty.upload('a', 'new!')).rejects.toMatchObject(unavailable)
    expect(await read('a')).toBe('old')
    expect(await usage()).toMatchObject({ used: 3, reserved: 0 })
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('E18 that holds one byte less than came keeps the old file, and nothing else (I3)', async () => {
    await using core = await openTestCore()
    const put = truncatingPut(core.objects)
    const { faulty, read } = await openOverwrite(core, { objects: { put } })
    await expect(faulty.upload('a', 'new!')).rejects.toMatchObject(unavailable)
    expect(await read('a')).toBe('old')
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('a store that hangs holds the upload no longer than its signal, and the old file stays (I9)', async () => {
    await using core = await openTestCore()
    const { faulty, read } = await openOverwrite(core, { objects: { put: hangingPut } })
    const uploading = faulty.upload('a', 'new!', { signal: AbortSignal.timeout(20) })
    await expect(uploading).rejects.toHaveProperty('name', 'TimeoutError')
    expect(await read('a')).toBe('old')
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('a store that can not remove leaves the object to the sweeper (I8)', async () => {
    await using core = await openTestCore()
    const put = truncatingPut(core.objects)
    const { faulty, read } = await openOverwrite(core, { objects: { put, remove: failing } })
    await expect(faulty.upload('a', 'new!')).rejects.toMatchObject(unavailable)
    expect((await leftovers(core)).orphans).toHaveLength(1)
    await settle(core)
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
    expect(await read('a')).toBe('old')
  })
})

describe('F04 a commit of unknown outcome', () => {
  it('a commit that had won is answered as success', async () => {
    await using core = await openTestCore()
    const commit = commitUnanswered(core.ledger)
    const { faulty, read, usage } = await openOverwrite(core, { ledger: { commit } })
    const { file, replaced } = await faulty.upload('a', 'newer')
    expect(file).toEqual(await faulty.stat('a'))
    expect(replaced).toBe(true)
    expect(await usage()).toMatchObject({ used: 5, reserved: 0, fileCount: 1 })
    await settle(core)
    expect(await read('a')).toBe('newer')
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('a commit that had lost leaves the old file, and no object', async () => {
    await using core = await openTestCore()
    const { faulty, read, usage } = await openOverwrite(core, { ledger: { commit: commitLost } })
    await expect(faulty.upload('a', 'newer')).rejects.toMatchObject(unavailable)
    expect(await read('a')).toBe('old')
    expect(await usage()).toMatchObject({ used: 3, reserved: 0 })
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('a commit that had won stands when the abort fails too, and nothing is removed', async () => {
    await using core = await openTestCore()
    const ledger = { commit: commitUnanswered(core.ledger), abort: failing }
    const { faulty, read } = await openOverwrite(core, { ledger })
    await expect(faulty.upload('a', 'newer')).rejects.toMatchObject(unavailable)
    expect(await storedCount(core)).toBe(2)
    await settle(core)
    expect(await read('a')).toBe('newer')
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('a commit that had lost keeps its object while the abort fails too; the sweeper removes it', async () => {
    await using core = await openTestCore()
    const ledger = { commit: commitLost, abort: failing }
    const { faulty, read } = await openOverwrite(core, { ledger })
    await expect(faulty.upload('a', 'newer')).rejects.toMatchObject(unavailable)
    expect(await storedCount(core)).toBe(2)
    await settle(core)
    expect(await read('a')).toBe('old')
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it.each([
    ['won', 'newer'],
    ['lost', 'old'],
  ])(
    'a commit that had %s is settled when only the first abort fails',
    async (outcome, content) => {
      await using core = await openTestCore()
      const commit: Ledger['commit'] = (upload) => core.ledger.commit(upload)
      const abort: Ledger['abort'] = (upload) => core.ledger.abort(upload)
      const ledger = {
        commit: outcome === 'won' ? commitUnanswered(core.ledger) : onceFailing(failing, commit),
        abort: onceFailing(failing, abort),
      }
      const { faulty, read } = await openOverwrite(core, { ledger })
      await expect(faulty.upload('a', 'newer')).rejects.toMatchObject(unavailable)
      expect(await read('a')).toBe(content)
      await settle(core)
      expect(await read('a')).toBe(content)
      expect(await leftovers(core)).toEqual(NOTHING_LEFT)
    },
  )

  it('a commit that had won stands when it can not be read back', async () => {
    await using core = await openTestCore()
    const commit: Ledger['commit'] = async (upload) => {
      await core.ledger.commit(upload)
      throw outage()
    }
    const { faulty, read } = await openOverwrite(core, { ledger: { commit } })
    await expect(faulty.upload('a', 'newer')).rejects.toMatchObject(unavailable)
    expect(await read('a')).toBe('newer')
    await settle(core)
    expect(await read('a')).toBe('newer')
  })

  it('a commit that is still under way when the abort wins does not bring the file back', async () => {
    await using core = await openTestCore()
    let late: Promise<unknown> = Promise.resolve()
    const commit: Ledger['commit'] = async (upload) => {
      late = setTimeout(20).then(() => core.ledger.commit(upload))
      throw outage()
    }
    const { faulty, read } = await openOverwrite(core, {
      ledger: { commit: onceFailing(commit, (upload) => core.ledger.commit(upload)) },
    })
    await expect(faulty.upload('a', 'newer')).rejects.toMatchObject(unavailable)
    await expect(late).rejects.toMatchObject(unavailable)
    expect(await read('a')).toBe('old')
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })
})

describe('a ledger that hangs', () => {
  it('holds a refusal no longer than the time for undoing', async () => {
    await using core = await openTestCore()
    let aborts = 0
    const abort = (): Promise<never> => {
      aborts += 1
      return new Promise(() => undefined)
    }
    const faults = { ledger: { abort }, objects: { put: failingPut }, undoMs: 20 }
    const { faulty, read } = await openOverwrite(core, faults)
    await expect(faulty.upload('a', 'new!')).rejects.toMatchObject(unavailable)
    expect(aborts).toBe(1)
    expect(await read('a')).toBe('old')
  })

  it.each([
    { hangs: 'the abort', won: false },
    { hangs: 'the commit that reads back', won: true },
  ])(
    'holds an upload whose commit failed no longer than a commit may take: $hangs',
    async ({ won }) => {
      await using core = await openTestCore()
      const hanging = (): Promise<never> => new Promise(() => undefined)
      const ledger: Partial<Ledger> = won
        ? {
            commit: onceFailing(async (upload) => {
              await core.ledger.commit(upload)
              return failing()
            }, hanging),
          }
        : { commit: failing, abort: hanging }
      const { faulty, read } = await openOverwrite(core, { ledger, commitMs: 300, undoMs: 20 })
      const startedAt = performance.now()
      const uploading = outcomeOf(faulty.upload('a', 'new!'))
      expect(await Promise.race([uploading, setTimeout(2_000, 'late')])).toBe('unavailable')
      expect(performance.now() - startedAt).toBeGreaterThan(250)
      expect(await read('a')).toBe(won ? 'new!' : 'old')
      await settle(core)
      expect(await read('a')).toBe(won ? 'new!' : 'old')
      expect(await leftovers(core)).toEqual(NOTHING_LEFT)
    },
  )
})

describe('a begin', () => {
  it('a begin that fails reads nothing and stores nothing', async () => {
    await using core = await openTestCore()
    const { faulty, read } = await openOverwrite(core, { ledger: { begin: failing } })
    const { content } = stalledContent('never read', '')
    const uploading = faulty.upload('a', incomingFile('', { content }))
    await expect(uploading).rejects.toMatchObject(unavailable)
    expect(content.readableFlowing).toBeNull()
    expect(await read('a')).toBe('old')
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('a begin whose answer is lost holds its reservation no longer than its lease', async () => {
    await using core = await openTestCore()
    const begin: Ledger['begin'] = async (upload) => {
      await core.ledger.begin(upload)
      throw outage()
    }
    const { faulty, usage } = await openOverwrite(core, { ledger: { begin, abort: failing } })
    await expect(faulty.upload('b', 'new')).rejects.toMatchObject(unavailable)
    expect(await usage()).toMatchObject({ used: 3, reserved: 3 })
    await settle(core)
    expect(await usage()).toMatchObject({ used: 3, reserved: 0 })
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('a begin whose answer is lost gives its reservation back at once, so that a retry has room', async () => {
    await using core = await openTestCore({ baseCapacity: 10 })
    const begin = onceFailing<BeginUpload, void>(
      async (upload) => {
        await core.ledger.begin(upload)
        throw outage()
      },
      (upload) => core.ledger.begin(upload),
    )
    const { upload, usage, read } = await openTestRepository(core, { ledger: { begin } })
    await expect(upload('a', 'nine of 10')).rejects.toMatchObject(unavailable)
    await expect.poll(usage).toMatchObject({ used: 0, reserved: 0 })
    await upload('a', 'nine of 10')
    expect(await read('a')).toBe('nine of 10')
    const rows = await core.database.kysely.selectFrom('uploads').select('state').execute()
    expect(rows).toEqual([{ state: 'committed' }])
  })

  it('a begin whose answer is lost is refused without waiting for what gives the reservation back', async () => {
    await using core = await openTestCore()
    const aborts: AbortUpload[] = []
    const abort = (upload: AbortUpload): Promise<never> => {
      aborts.push(upload)
      return new Promise(() => undefined)
    }
    const { faulty } = await openOverwrite(core, { ledger: { begin: failing, abort } })
    await expect(faulty.upload('b', 'new')).rejects.toMatchObject(unavailable)
    expect(aborts).toMatchObject([{ isUntouched: true }])
  })

  it('a refused begin has nothing to give back', async () => {
    await using core = await openTestCore({ baseCapacity: 5 })
    const { upload } = await openTestRepository(core, { ledger: { abort: failing } })
    await expect(upload('a', 'more than 5')).rejects.toMatchObject({ code: 'capacity_exceeded' })
  })
})

describe('the lease of an upload', () => {
  it('is not renewed any more after it has ended, well or not', async () => {
    await using core = await openTestCore()
    let renewals = 0
    const renew = async (): Promise<void> => {
      renewals += 1
    }
    const { upload } = await openTestRepository(core, { ledger: { renew }, leaseMs: 30 })
    await upload('a', 'well')
    const faults = { ledger: { renew }, objects: { put: failingPut }, leaseMs: 30 }
    const { faulty } = await openOverwrite(core, faults)
    await expect(faulty.upload('a', 'not')).rejects.toMatchObject(unavailable)
    renewals = 0
    await setTimeout(60)
    expect(renewals).toBe(0)
  })
})

describe('an upload whose lease is lost', () => {
  it('leaves no object behind, also when it goes on for longer than the journal remembers (I8)', async () => {
    await using core = await openTestCore()
    const options = { ledger: { renew: failing }, objects: { remove: failing }, leaseMs: 60 }
    const { faulty, read } = await openOverwrite(core, options)
    const { content, stalled, go } = stalledContent('ne', 'w')
    const size = { min: 3, announced: 3 }
    const uploading = outcomeOf(faulty.upload('a', incomingFile('', { content, size })))
    await stalled
    core.clock.now += LEASE_MS
    await sweepOnce(core)
    await Promise.race([uploading, setTimeout(300)])
    core.clock.now += RETENTION_MS + 1
    await sweepOnce(core)
    go()
    expect(await uploading).toBe('unavailable')
    await settle(core)
    expect(await read('a')).toBe('old')
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })
})

describe('an upload that was refused', () => {
  it('removes its own object and no other', async () => {
    await using core = await openTestCore()
    const removed: string[] = []
    const remove = async (object: NamedObject): Promise<void> => {
      removed.push(object.key)
      await core.objects.remove(object)
    }
    const { faulty, stat } = await openOverwrite(core, {
      ledger: { commit: commitLost },
      objects: { remove },
    })
    await expect(faulty.upload('a', 'newer')).rejects.toMatchObject(unavailable)
    expect(removed).toHaveLength(1)
    expect(removed).not.toContain((await stat('a')).objectKey)
  })
})

describe('a change of files', () => {
  const name = parseFileName('a')
  const change = {
    name,
    newName: parseFileName('b'),
    visibility: 'public',
    overwrite: true,
  } as const

  it('a change that fails is unavailable, and changes nothing', async () => {
    await using core = await openTestCore()
    const ledger = { deleteFile: failing, updateFile: failing, listFiles: failing }
    const { faulty, read, stat, usage, caller } = await openOverwrite(core, { ledger })
    const before = await stat('a')
    const { repository } = faulty
    await expect(repository.remove({ subject: caller, name })).rejects.toMatchObject(unavailable)
    await expect(repository.change({ subject: caller, ...change })).rejects.toMatchObject(
      unavailable,
    )
    expect(await stat('a')).toEqual(before)
    expect(await usage()).toMatchObject({ used: 3, reserved: 0, fileCount: 1 })
    await settle(core)
    expect(await read('a')).toBe('old')
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('a change that fails in its transaction is rolled back whole', async () => {
    await using core = await openTestCore()
    const { upload, read, repository, stat, usage, caller } = await openTestRepository(core)
    await upload('a', 'old')
    await upload('b', 'other')
    const before = [await stat('a'), await stat('b')]
    // The last statement of both is refused: the object's key is garbage already.
    for (const { objectKey } of before) {
      const garbage = { object_key: objectKey, not_before: Number.MAX_SAFE_INTEGER }
      await core.database.kysely.insertInto('garbage').values(garbage).execute()
    }
    await expect(repository.remove({ subject: caller, name })).rejects.toThrow(/UNIQUE/)
    await expect(repository.change({ subject: caller, ...change })).rejects.toThrow(/UNIQUE/)
    expect([await stat('a'), await stat('b')]).toEqual(before)
    expect(await usage()).toMatchObject({ used: 8, reserved: 0, fileCount: 2 })
    expect([await read('a'), await read('b')]).toEqual(['old', 'other'])
  })

  it('a change whose answer is lost has happened once: repeated, it finds no file', async () => {
    await using core = await openTestCore()
    const deleteFile: Ledger['deleteFile'] = async (file) => {
      await core.ledger.deleteFile(file)
      throw outage()
    }
    const { faulty, repository, usage, caller } = await openOverwrite(core, {
      ledger: { deleteFile },
    })
    await expect(faulty.repository.remove({ subject: caller, name })).rejects.toMatchObject(
      unavailable,
    )
    await expect(repository.remove({ subject: caller, name })).rejects.toMatchObject({
      code: 'not_found',
    })
    expect(await usage()).toMatchObject({ used: 0, fileCount: 0 })
    await settle(core)
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })
})
