import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { steadyTime } from '../../../../src/core/clock/steady-time.ts'
import { contentOf, openPack } from '../../../../src/object-store/filesystem/pack/pack-file.ts'
import { PackWriter } from '../../../../src/object-store/filesystem/pack/pack-writer.ts'
import { createFolder } from '../../../support/servers/local-server.ts'

describe('the writer of a pack', () => {
  let folder: Awaited<ReturnType<typeof createFolder>>
  let file: string
  let pack: DatabaseSync
  let writer: PackWriter

  beforeEach(async () => {
    folder = await createFolder('pack')
    file = join(folder.path, 'pack.sqlite')
    pack = openPack({ file, isServed: true, busyTimeoutMs: 1000 })
    writer = new PackWriter(pack)
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    pack.close()
    await folder.remove()
  })

  const put = (key: string, content = randomBytes(4096)): Promise<number> =>
    writer.change({ put: key, metadata: '{}', content }, Infinity)

  const remove = (key: string): Promise<number> => writer.change({ remove: key }, Infinity)

  const keys = (): readonly unknown[] =>
    pack
      .prepare('SELECT key FROM objects ORDER BY key')
      .all()
      .map(({ key }) => key)

  const pragma = (name: string): number =>
    Number(Object.values(pack.prepare(`PRAGMA ${name}`).get() ?? {})[0])

  it('makes the changes of one event-loop iteration in one transaction, and tells of none before it is durable', async () => {
    const exec = pack.exec.bind(pack)
    const told: string[] = []
    vi.spyOn(pack, 'exec').mockImplementation((sql) => {
      exec(sql)
      told.push(sql)
    })
    const making = [put('a'), put('b'), remove('none')]
    for (const each of making) void each.then(() => told.push('told'))
    await Promise.all(making)
    expect(told).toEqual(['BEGIN IMMEDIATE', 'COMMIT', 'told', 'told', 'told'])
    expect(keys()).toEqual(['a', 'b'])
  })

  it('makes many changes in a few transactions, in order', async () => {
    const statements = vi.spyOn(pack, 'exec')
    const changes = Array.from({ length: 100 }, (_, at) => [put(`${at}`), remove(`${at - 1}`)])
    await Promise.all(changes.flat())
    expect(statements.mock.calls.filter(([sql]) => sql === 'COMMIT')).toHaveLength(4)
    expect(keys()).toEqual(['99'])
  })

  it('resolves to the size that is stored', async () => {
    expect(await put('a', randomBytes(5))).toBe(5)
    expect(await put('b', randomBytes(0))).toBe(0)
  })

  it('puts nothing that its caller no longer waits for, but removes', async () => {
    await put('a')
    const late = steadyTime() - 1
    const change = { put: 'b', metadata: '{}', content: randomBytes(1) }
    await expect(writer.change(change, late)).rejects.toThrow('given up')
    await writer.change({ remove: 'a' }, late)
    expect(keys()).toEqual([])
  })

  it('refuses a key that is taken, and nothing beside it', async () => {
    const content = randomBytes(10)
    await put('a', content)
    const outcomes = await Promise.allSettled([put('b'), put('a'), put('c')])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(keys()).toEqual(['a', 'b', 'c'])
    const row =
      pack.prepare("SELECT metadata, crc32, content FROM objects WHERE key = 'a'").get() ?? {}
    expect(Buffer.from(contentOf(row, 'a'))).toEqual(content)
  })

  it('E17 rejects what the disk has no room for, keeps the rest, and works again when there is room', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, at) => put(`before ${at}`)))
    pack.exec(`PRAGMA max_page_count = ${pragma('page_count') + 4}`)
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, (_, at) => put(`${at}`)))
    const stored = outcomes.flatMap(({ status }, at) => (status === 'fulfilled' ? [`${at}`] : []))
    expect(stored.length).toBeLessThan(8)
    for (const outcome of outcomes.filter(({ status }) => status === 'rejected')) {
      expect(outcome).toMatchObject({ reason: { errstr: 'database or disk is full' } })
    }
    expect(keys().filter((key) => !String(key).startsWith('before'))).toEqual(stored)
    await Promise.all(Array.from({ length: 9 }, (_, at) => remove(`before ${at}`)))
    await Promise.all(Array.from({ length: 8 }, (_, at) => put(`more ${at}`)))
    expect(keys()).toHaveLength(stored.length + 19)
  })

  it('gives the room of removed objects back to the file system, but for a little', async () => {
    const content = randomBytes(32 * 1024)
    const names = Array.from({ length: 600 }, (_, at) => `${at}`)
    await Promise.all(names.map((name) => put(name, content)))
    pack.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    const { size: full } = await stat(file)
    await Promise.all(names.map((name) => remove(name)))
    await expect.poll(() => pragma('freelist_count')).toBeLessThanOrEqual(1024)
    pack.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    const { size } = await stat(file)
    expect(full).toBeGreaterThan(18 * 2 ** 20)
    expect(size).toBeLessThan(6 * 2 ** 20)
  })
})
