import type { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { FileVersion } from '../../src/core/files/file.ts'
import { parseFileName } from '../../src/core/files/file-name.ts'
import type { OpenObject } from '../../src/core/objects/object-store.ts'
import { MissingObject } from '../../src/core/files/open-content.ts'
import { onceFailing, outage } from '../support/faults/faults.ts'
import { bytesOf, streamOf } from '../support/objects.ts'
import { GARBAGE_DELAY_MS, openTestCore, sweepOnce } from '../support/service/test-core.ts'
import { openOverwrite, openTestRepository } from '../support/service/test-repository.ts'

const unavailable = { code: 'unavailable' }

describe('open', () => {
  it('finds the new file when an overwrite and a sweep come between row and object', async () => {
    await using core = await openTestCore()
    const { upload } = await openTestRepository(core)
    const overtaken = async (object: OpenObject) => {
      await upload('a', 'newer')
      core.clock.now += GARBAGE_DELAY_MS
      await sweepOnce(core)
      return await core.objects.open(object)
    }
    const open = onceFailing(overtaken, (object) => core.objects.open(object))
    const { faulty } = await openOverwrite(core, { objects: { open } })
    expect(await faulty.read('a')).toBe('newer')
  })

  it('decides anew what to open of the new file when one came between row and object', async () => {
    await using core = await openTestCore()
    const { upload } = await openTestRepository(core)
    const overtaken = async (object: OpenObject) => {
      await upload('a', 'newer')
      await core.objects.remove(object)
      return await core.objects.open(object)
    }
    const open = onceFailing(overtaken, (object) => core.objects.open(object))
    const { faulty } = await openOverwrite(core, { objects: { open } })
    const { repository, userId, caller } = faulty
    const sizes: number[] = []
    const opened = await repository.open({
      userId,
      name: parseFileName('a'),
      viewer: caller,
      select({ size }) {
        sizes.push(size)
        return { first: size - 2, last: size - 1 }
      },
      signal: AbortSignal.timeout(1000),
    })
    expect(sizes).toEqual([3, 5])
    expect(opened).toMatchObject({ file: { size: 5 }, selection: { first: 3, last: 4 } })
    expect(String(await bytesOf(opened.body))).toBe('er')
  })

  it('hands on a content that is there whole, and makes no body of it', async () => {
    await using core = await openTestCore()
    const content = Buffer.from('old')
    const open = async () => ({ body: content, size: 3 })
    const { repository, userId, caller } = (await openOverwrite(core, { objects: { open } })).faulty
    const name = parseFileName('a')
    const signal = AbortSignal.timeout(1000)
    const opened = await repository.open({ userId, name, viewer: caller, signal })
    expect(opened.content).toBe(content)
    expect(opened.body).toBeUndefined()
  })

  it('asks the store for the range alone, and for nothing when nothing was selected', async () => {
    await using core = await openTestCore()
    const ranges: OpenObject['range'][] = []
    const open = async (object: OpenObject) => {
      ranges.push(object.range)
      return await core.objects.open(object)
    }
    const { upload, repository, userId, caller } = await openTestRepository(core, {
      objects: { open },
    })
    const { file } = await upload('a', 'hello')
    const wanted = { userId, name: file.name, viewer: caller, signal: AbortSignal.timeout(1000) }
    const range = { first: 1, last: 3 }
    const part = await repository.open({ ...wanted, select: () => range })
    expect(String(await bytesOf(part.body))).toBe('ell')
    const nothing = await repository.open({ ...wanted, select: () => 'nothing' })
    expect(nothing).toEqual({ file, selection: 'nothing', body: undefined })
    expect(ranges).toEqual([range])
  })

  it('shows what it opens to no selection of a caller who may not see the file', async () => {
    await using core = await openTestCore()
    const { upload, repository, userId } = await openTestRepository(core)
    const { file } = await upload('a', 'hello')
    const seen: string[] = []
    const select = ({ name }: FileVersion): 'nothing' => {
      seen.push(name)
      return 'nothing'
    }
    const signal = AbortSignal.timeout(1000)
    const opening = repository.open({ userId, name: file.name, viewer: undefined, select, signal })
    await expect(opening).rejects.toMatchObject({ code: 'not_found' })
    expect(seen).toEqual([])
  })

  it('H10 goes on reading what it has opened when the file is replaced', async () => {
    await using core = await openTestCore()
    const { upload, read, repository, userId, caller } = await openTestRepository(core)
    const { file } = await upload('a', 'old')
    const signal = AbortSignal.timeout(1000)
    const opened = await repository.open({ userId, name: file.name, viewer: caller, signal })
    await upload('a', 'newer')
    expect(String(await bytesOf(opened.body))).toBe('old')
    expect(await read('a')).toBe('newer')
  })

  it('E19 answers unavailable for a file whose object is lost, and says which in the log', async () => {
    await using core = await openTestCore()
    let asked = 0
    const open = async (object: OpenObject) => {
      asked += 1
      return await core.objects.open(object)
    }
    const { upload, read } = await openTestRepository(core, { objects: { open } })
    const { file } = await upload('a', 'old')
    await core.objects.remove({ key: file.objectKey, signal: AbortSignal.timeout(1000) })
    const error: unknown = await read('a').catch((error: unknown) => error)
    expect(error).toMatchObject({ ...unavailable, facts: {} })
    const cause = error instanceof Error ? error.cause : undefined
    expect(cause).toBeInstanceOf(MissingObject)
    expect(String(cause)).toContain(file.objectKey)
    expect(asked).toBe(2)
  })

  it('answers internal_error for an object of another size at once, and leaves no body open', async () => {
    await using core = await openTestCore()
    const bodies: Readable[] = []
    const open = async (object: OpenObject) => {
      const opened = await core.objects.open(object)
      if (opened === undefined) return undefined
      const body = streamOf(opened)
      bodies.push(body)
      return { body, size: opened.size - 1 }
    }
    const { faulty } = await openOverwrite(core, { objects: { open } })
    await expect(faulty.read('a')).rejects.toMatchObject({ code: 'internal_error' })
    expect(bodies).toHaveLength(1)
    expect(bodies.every((body) => body.destroyed)).toBe(true)
  })

  it('answers unavailable while the store fails, and never that the file is gone', async () => {
    await using core = await openTestCore()
    const { faulty } = await openOverwrite(core, {
      objects: { open: () => Promise.reject(outage()) },
    })
    await expect(faulty.read('a')).rejects.toMatchObject(unavailable)
  })
})
