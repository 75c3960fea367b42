import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import type { AppendObject } from '../../../src/core/objects/append-store.ts'
import { createFilesystemStore } from '../../../src/object-store/filesystem/store.ts'
import { fileHandles, filesIn, openFilesIn, recordSyncs } from '../../support/folder.ts'
import { chunked, digest, never, read } from '../../support/objects.ts'
import { heldBody, RecordedUpload } from '../../support/recorded-upload.ts'

const MIB = 2 ** 20

let directory: string
let store: ObjectStore

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'cloud-repository-appends-'))
  store = createFilesystemStore({ directory })
  await store.prepare(never())
})
afterEach(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  await rm(directory, { recursive: true })
})

function open(length: number | undefined): RecordedUpload {
  return new RecordedUpload({ store, partSize: 8 * MIB, length })
}

async function expectFinished(upload: RecordedUpload, content: Buffer): Promise<void> {
  const size = content.length
  await expect(upload.finish()).resolves.toEqual({ size })
  expect(await read(store, upload.key)).toEqual({ size, sha256: digest(content) })
  expect((await filesIn(directory)).filter((path) => path.includes('.tmp'))).toEqual([])
}

/** What the ledger would have handed to an append that claimed the upload as it is now. */
function claimOf(upload: RecordedUpload, content: Buffer): AppendObject {
  const { key, offset, length, storeState } = upload
  return {
    key,
    offset,
    length,
    storeState,
    body: chunked(content),
    partSize: 8 * MIB,
    tail: [],
    tailKey: undefined,
    metadata: {},
    onDurable: () => undefined,
    onTail: () => undefined,
    signal: never(),
  }
}

describe('an append to a file', () => {
  it('synchronises the file, the first time also its folder, before it is recorded (R23)', async () => {
    const content = randomBytes(20)
    const upload = open(content.length)
    const events: string[] = []
    const onDurable = ({ offset }: { readonly offset: number }): void =>
      void events.push(`durable ${offset}`)
    await recordSyncs(directory, ({ path }) => events.push(path.replace(upload.key, 'KEY')))
    await upload.append(content.subarray(0, 10), { onDurable })
    await upload.append(content.subarray(10), { onDurable })
    expect(events).toEqual([
      'users',
      'KEY.tmp',
      dirname(upload.key),
      'durable 10',
      'KEY.tmp',
      'durable 20',
    ])
    await expectFinished(upload, content)
    expect(events.at(-1)).toBe(dirname(upload.key))
  })

  it('is durable every 8 MiB, while it goes on', async () => {
    const content = Buffer.alloc(30 * MIB, 'x')
    const upload = open(content.length)
    const offsets: number[] = []
    await upload.append(content, { onDurable: ({ offset }) => void offsets.push(offset) })
    expect(offsets.length).toBeGreaterThanOrEqual(2)
    expect(offsets[0]).toBeGreaterThanOrEqual(8 * MIB)
    expect(offsets.at(-1)).toBe(content.length)
  })

  it('is durable every 5 s where it is slow', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const upload = open(undefined)
    const { body, give, drained } = heldBody()
    const durable = Promise.withResolvers<number>()
    const appending = upload.append(body, {
      onDurable: ({ offset }) => durable.resolve(offset),
    })
    give(randomBytes(10))
    await drained()
    vi.advanceTimersByTime(4900)
    give(randomBytes(10))
    await drained()
    expect(upload.offset).toBe(0)
    vi.advanceTimersByTime(200)
    give(randomBytes(10))
    expect(await durable.promise).toBe(30)
    body.destroy(new Error('connection reset'))
    await appending
  })

  it('cuts off what the one before has not recorded', async () => {
    const content = randomBytes(100)
    const upload = open(content.length)
    await upload.append(content.subarray(0, 50))
    await writeFile(join(directory, `${upload.key}.tmp`), randomBytes(60), { flag: 'a' })
    await upload.append(content.subarray(50, 60))
    expect(await readFile(join(directory, `${upload.key}.tmp`))).toEqual(content.subarray(0, 60))
    await upload.append(content.subarray(60))
    await expectFinished(upload, content)
  })

  it('finds an upload lost whose file is gone or shorter', async () => {
    for (const lose of [rm, (path: string) => truncate(path, 49)]) {
      const upload = open(100)
      await upload.append(randomBytes(50))
      await lose(join(directory, `${upload.key}.tmp`))
      await expect(upload.append(randomBytes(50))).resolves.toBeUndefined()
      upload.crash()
      await expect(upload.append(randomBytes(50))).resolves.toBeUndefined()
      upload.length = 50
      await expect(upload.finish()).resolves.toBeUndefined()
    }
  })

  it('finds none lost while the disk is not mounted', async () => {
    const content = randomBytes(100)
    const upload = open(content.length)
    await upload.append(content.subarray(0, 50))
    await rename(join(directory, 'users'), join(directory, 'elsewhere'))
    const appending = upload.append(content.subarray(50))
    await expect(appending).rejects.toMatchObject({ code: 'unavailable' })
    await expect(upload.finish()).rejects.toMatchObject({ code: 'unavailable' })
    await rename(join(directory, 'elsewhere'), join(directory, 'users'))
    await upload.append(content.subarray(50))
    await expectFinished(upload, content)
  })

  it('finds none lost that was finished before it came', async () => {
    const content = randomBytes(100)
    const upload = open(content.length)
    await upload.append(content.subarray(0, 50))
    const late = claimOf(upload, content.subarray(50))
    await upload.append(content.subarray(50))
    await upload.finish()
    await expect(store.append(late)).rejects.toMatchObject({ code: 'unavailable' })
    await expectFinished(upload, content)
  })

  it.each(['write', 'sync'] as const)(
    'rejects when the disk is full, and keeps what was durable (R22): %s',
    async (method) => {
      const content = randomBytes(100)
      const upload = open(content.length)
      await upload.append(content.subarray(0, 50))
      const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
      vi.spyOn(await fileHandles(), method).mockRejectedValueOnce(full)
      const appending = upload.append(content.subarray(50))
      await expect(appending).rejects.toMatchObject({ code: 'unavailable', cause: full })
      expect(upload.offset).toBe(50)
      await upload.append(content.subarray(50))
      await expectFinished(upload, content)
    },
  )

  it('rejects when a synchronisation beside it fails, and when the file is short afterwards', async () => {
    const content = Buffer.alloc(20 * MIB, 'x')
    const failure = new Error('input/output error')
    const handles = await fileHandles()
    const upload = open(content.length)
    vi.spyOn(handles, 'sync').mockRejectedValueOnce(failure)
    const appending = upload.append(content)
    await expect(appending).rejects.toMatchObject({ code: 'unavailable', cause: failure })
    expect(upload.offset).toBe(0)
    vi.spyOn(handles, 'write').mockImplementation(async (buffer, _at, length) => {
      return { bytesWritten: typeof length === 'number' ? length : 0, buffer }
    })
    await expect(upload.append(content)).rejects.toMatchObject({ code: 'unavailable' })
    expect(upload.offset).toBe(0)
  })

  it('has written its last byte when it rejects', async () => {
    const upload = open(undefined)
    const { body, give } = heldBody()
    const caller = new AbortController()
    const writing = Promise.withResolvers<void>()
    const written = Promise.withResolvers<void>()
    const spy = vi.spyOn(await fileHandles(), 'write')
    spy.mockImplementation(async (buffer, _at, length) => {
      writing.resolve()
      await written.promise
      return { bytesWritten: typeof length === 'number' ? length : 0, buffer }
    })
    give(randomBytes(10))
    let isOver = false
    const appending = upload.append(body, { signal: caller.signal }).finally(() => (isOver = true))
    await writing.promise
    caller.abort(new Error('shutdown'))
    await new Promise((resolve) => setImmediate(resolve))
    expect(isOver).toBe(false)
    written.resolve()
    await expect(appending).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('closes every file', async () => {
    for (let round = 0; round < 5; round++) {
      const upload = open(1000)
      await upload.append(randomBytes(10))
      upload.crash()
      const { body, give } = heldBody()
      give(randomBytes(10), new Error('connection reset'))
      await upload.append(body)
      const signal = AbortSignal.abort(new Error('shutdown'))
      await expect(upload.append(randomBytes(10), { signal })).rejects.toThrow('object store')
    }
    expect(await openFilesIn(directory)).toEqual([])
  })

  it('refuses a state that names another file', async () => {
    const upload = open(100)
    for (const file of ['', '0', '/../x', -1, 1.5, 2 ** 60, null]) {
      upload.storeState = JSON.stringify({ file })
      const appending = upload.append(randomBytes(10))
      await expect(appending).rejects.toMatchObject({ code: 'unavailable' })
      upload.offset = 0
      await expect(upload.finish()).rejects.toMatchObject({ code: 'unavailable' })
    }
    expect(await filesIn(directory)).toEqual([])
  })
})

describe('an append that takes over a file', () => {
  it('moves on to a copy, and the next one removes the file before it', async () => {
    const content = randomBytes(100)
    const upload = open(content.length)
    await upload.append(content.subarray(0, 30))
    upload.crash()
    await upload.append(content.subarray(30, 60))
    const temporary = `${upload.key}.tmp`
    const both = await filesIn(directory)
    expect(both).toHaveLength(2)
    expect(both).toContain(temporary)
    await upload.append(content.subarray(60, 90))
    expect(await filesIn(directory)).toEqual(both.filter((path) => path !== temporary))
    upload.crash()
    await upload.append(content.subarray(90))
    await expectFinished(upload, content)
  })

  it('keeps one copy at most, however often it is taken over in turn (R40)', async () => {
    const content = randomBytes(100)
    const upload = open(content.length)
    await upload.append(content.subarray(0, 30))
    const stalled: Promise<unknown>[] = []
    const bodies = Array.from({ length: 4 }, heldBody)
    for (const { body, give, drained } of bodies) {
      upload.crash()
      give(content.subarray(30, 60))
      stalled.push(upload.append(body, { isDiscarded: true }).catch(() => undefined))
      await drained()
      expect(await filesIn(directory)).toHaveLength(2)
    }
    upload.crash()
    await upload.append(content.subarray(30))
    for (const { body } of bodies) body.destroy(new Error('gone at last'))
    await Promise.all(stalled)
    await expectFinished(upload, content)
  })

  it('needs room for its copy, and may not be fenced before it has made it (R22, R40)', async () => {
    const append = { partSize: 8 * MIB, offset: 30, length: 100, bodySize: 70 }
    const plan = (storeState: string, isTakeover: boolean) =>
      store.planAppend({ ...append, storeState, isTakeover })
    expect(plan('{}', false)).toEqual({ storeState: '{}', ifUnused: '{}', extraBytes: 0 })
    expect(store.isFenceable('{}')).toBe(true)
    const planned = plan('{}', true)
    expect(planned?.extraBytes).toBe(30)
    expect(store.isFenceable(planned?.storeState ?? '')).toBe(false)
    // It was not called, or failed: the earlier append may still write.
    expect(plan(planned?.ifUnused ?? '', false)?.extraBytes).toBe(30)
    const upload = open(100)
    await upload.append(randomBytes(30))
    upload.crash()
    await upload.append(randomBytes(30))
    expect(plan(upload.storeState, false)?.extraBytes).toBe(0)
    expect(store.isFenceable(upload.storeState)).toBe(true)
  })

  it('has its copy on disk before it is recorded', async () => {
    const content = randomBytes(100)
    const upload = open(content.length)
    await upload.append(content.subarray(0, 30))
    upload.crash()
    const events: string[] = []
    await recordSyncs(directory, ({ path }) => events.push(path))
    await upload.append(content.subarray(0, 0), {
      onDurable: ({ storeState }) => void events.push(storeState),
    })
    const copied = events.indexOf(upload.storeState)
    const before = events.slice(0, copied)
    expect(before).toContain(`${upload.key}.tmp.d/1`)
    expect(before).toContain(`${upload.key}.tmp.d`)
    expect(before).toContain(dirname(upload.key))
  })

  it('is harmed by none that claimed before it and comes later, however often it was taken over', async () => {
    for (const offset of [0, 30]) {
      const content = randomBytes(100)
      const upload = open(content.length)
      await upload.append(content.subarray(0, offset))
      const late = [claimOf(upload, randomBytes(70))]
      for (const end of [40, 60, 80]) {
        upload.crash()
        await upload.append(content.subarray(upload.offset, end))
        late.push(claimOf(upload, randomBytes(5)))
        await upload.append(content.subarray(end, end + 10))
      }
      upload.crash()
      await upload.append(content.subarray(90))
      for (const append of late) await store.append(append).catch(() => undefined)
      await expectFinished(upload, content)
    }
  })

  it('leaves that to the next one when it fails, although it has released the upload', async () => {
    const content = randomBytes(100)
    const upload = open(content.length)
    await upload.append(content.subarray(0, 30))
    const late = claimOf(upload, randomBytes(70))
    upload.crash()
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    vi.spyOn(await fileHandles(), 'sync').mockRejectedValueOnce(full)
    await expect(upload.append(content.subarray(30))).rejects.toMatchObject({ cause: full })
    expect(await filesIn(directory)).toEqual([`${upload.key}.tmp`])
    await upload.append(content.subarray(30, 60))
    await store.append(late).catch(() => undefined)
    await upload.append(content.subarray(60))
    await expectFinished(upload, content)
  })
})

describe('finish of a file', () => {
  it('goes on where a crash has left it', async () => {
    const content = randomBytes(100)
    const upload = open(content.length)
    await upload.append(content)
    await symlink('{}', join(directory, `${upload.key}.metadata`))
    await writeFile(join(directory, `${upload.key}.tmp`), randomBytes(9), { flag: 'a' })
    await expectFinished(upload, content)
    await writeFile(join(directory, `${upload.key}.tmp`), 'left')
    await expectFinished(upload, content)
  })

  it('synchronises the folder after the rename, with the metadata beside the object', async () => {
    const metadata = { name: 'n' }
    const upload = new RecordedUpload({ store, partSize: 8 * MIB, length: 10, metadata })
    await upload.append(randomBytes(10))
    const synchronised: { path: string; files: readonly string[] }[] = []
    await recordSyncs(directory, (sync) => synchronised.push(sync))
    await upload.finish()
    expect(synchronised.map(({ path }) => path)).toEqual([dirname(upload.key)])
    const files = [upload.key, `${upload.key}.metadata`]
    expect(synchronised[0]?.files.toSorted()).toEqual(files)
  })
})
