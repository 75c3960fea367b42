import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DurableDirectories } from '../../../src/object-store/filesystem/durable-directories.ts'
import { fileHandles, recordSyncs } from '../../support/folder.ts'
import { createFolder } from '../../support/servers/local-server.ts'

let folder: Awaited<ReturnType<typeof createFolder>>
let users: string

beforeEach(async () => {
  folder = await createFolder('directories')
  users = join(folder.path, 'users')
  await mkdir(users)
})
afterEach(async () => {
  vi.restoreAllMocks()
  await folder.remove()
})

describe('entering a directory', () => {
  const write = (directory: string, name: string) => () => writeFile(join(directory, name), name)

  it('makes it and synchronises the one above, once', async () => {
    const directories = new DurableDirectories()
    const ada = join(users, 'ada')
    const synchronised = await recordSyncs(folder.path)
    const names = ['a', 'b', 'c']
    await Promise.all(names.map((name) => directories.enter(ada, users, write(ada, name))))
    await directories.enter(ada, users, write(ada, 'd'))
    expect(synchronised.map(({ path }) => path)).toEqual(['users'])
  })

  it('makes it anew when it has vanished', async () => {
    const directories = new DurableDirectories()
    const ada = join(users, 'ada')
    await directories.enter(ada, users, write(ada, 'a'))
    await rm(users, { recursive: true })
    const synchronised = await recordSyncs(folder.path)
    await directories.enter(ada, users, write(ada, 'b'))
    expect(synchronised.map(({ path }) => path)).toEqual(['users', ''])
  })

  it('fails when it cannot be made, and not once it can', async () => {
    const directories = new DurableDirectories()
    const ada = join(users, 'ada')
    await writeFile(ada, 'in the way')
    await rm(users, { recursive: true })
    await writeFile(users, 'in the way')
    const entering = directories.enter(ada, users, write(ada, 'a'))
    await expect(entering).rejects.toMatchObject({ code: 'ENOTDIR' })
    await rm(users)
    await directories.enter(ada, users, write(ada, 'b'))
  })

  it('fails as the call does that creates the file', async () => {
    const failure = new Error('no space left on device')
    const failing = () => Promise.reject(failure)
    const entering = new DurableDirectories().enter(join(users, 'ada'), users, failing)
    await expect(entering).rejects.toBe(failure)
  })
})

describe('synchronising a directory', () => {
  /** Holds every fsync until it is let go. */
  async function holdSyncs() {
    const held: PromiseWithResolvers<void>[] = []
    vi.spyOn(await fileHandles(), 'sync').mockImplementation(() => {
      const sync = Promise.withResolvers<void>()
      held.push(sync)
      return sync.promise
    })
    return held
  }

  it('is one fsync for all who ask while another one runs, and begins after they have asked', async () => {
    const directories = new DurableDirectories()
    const held = await holdSyncs()
    const done: string[] = []
    const sync = (name: string) => directories.sync(users).then(() => done.push(name))
    const first = sync('first')
    await expect.poll(() => held.length).toBe(1)
    const later = [sync('second'), sync('third')]
    held[0]?.resolve()
    await first
    await expect.poll(() => held.length).toBe(2)
    expect(done).toEqual(['first'])
    const latest = sync('latest')
    held[1]?.resolve()
    await Promise.all(later)
    expect(done).toEqual(['first', 'second', 'third'])
    await expect.poll(() => held.length).toBe(3)
    held[2]?.resolve()
    await latest
  })

  it('fails only for those whose fsync fails', async () => {
    const directories = new DurableDirectories()
    const held = await holdSyncs()
    const failure = new Error('i/o error')
    const first = directories.sync(users)
    await expect.poll(() => held.length).toBe(1)
    const second = directories.sync(users)
    held[0]?.reject(failure)
    await expect(first).rejects.toBe(failure)
    await expect.poll(() => held.length).toBe(2)
    held[1]?.resolve()
    await second
  })

  it('waits for no other directory', async () => {
    const directories = new DurableDirectories()
    const held = await holdSyncs()
    const first = directories.sync(users)
    const other = directories.sync(folder.path)
    await expect.poll(() => held.length).toBe(2)
    for (const sync of held) sync.resolve()
    await Promise.all([first, other])
  })
})
