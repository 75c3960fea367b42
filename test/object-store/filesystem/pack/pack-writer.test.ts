import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
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
    pack = openPack({ file, busyTimeoutMs: 1000 })
    writer = new PackWriter(pack)
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    pack.close()
    await folder.remove()
  })

  const put = (key: string, content = randomBytes(4096)): Promise<void> =>
    writer.change({ put: key, metadata: '{}', content })

  const keys = (): readonly unknown[] =>
    pack
      .prepare('SELECT key FROM objects ORDER BY key')
      .all()
      .map(({ key }) => key)

  const pragma = (name: string): number =>
    Number(Object.values(pack.prepare(`PRAGMA ${name}`).get() ?? {})[0])

  it('makes the changes of one turn in one transaction, and tells of none before it is durable', async () => {
    const exec = pack.exec.bind(pack)
    const told: string[] = []
    vi.spyOn(pack, 'exec').mockImplementation((sql) => {
      exec(sql)
      told.push(sql)
    })
    const making = [put('a'), put('b'), writer.change({ remove: 'none' })]
    for (const each of making) void each.then(() => told.push('told'))
    await Promise.all(making)
    expect(told).toEqual(['BEGIN IMMEDIATE', 'COMMIT', 'told', 'told', 'told'])
    expect(keys()).toEqual(['a', 'b'])
  })

  it('makes many changes in a few transactions, in order', async () => {
    const commits = vi.spyOn(pack, 'exec')
    const making = Array.from({ length: 150 }, async (_, at) => {
      if (at > 0) return await put(`${at}`)
      await put('first')
      await writer.change({ remove: 'first' })
    })
    await Promise.all(making)
    expect(commits.mock.calls.filter(([sql]) => sql === 'COMMIT').length).toBeLessThan(6)
    expect(keys()).toHaveLength(149)
  })

  it('refuses a key that is taken, and nothing beside it', async () => {
    const content = randomBytes(10)
    await put('a', content)
    const outcomes = await Promise.allSettled([put('b'), put('a'), put('c')])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(keys()).toEqual(['a', 'b', 'c'])
    const row = pack.prepare("SELECT crc32, content FROM objects WHERE key = 'a'").get() ?? {}
    expect(Buffer.from(contentOf(row))).toEqual(content)
  })

  it('E17 has none of a group that the disk does not take, and goes on when there is room', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, at) => put(`before ${at}`)))
    pack.exec(`PRAGMA max_page_count = ${pragma('page_count') + 4}`)
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, (_, at) => put(`${at}`)))
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { errstr: 'database or disk is full' },
      })
    }
    expect(keys()).toHaveLength(20)
    await Promise.all(
      Array.from({ length: 9 }, (_, at) => writer.change({ remove: `before ${at}` })),
    )
    await Promise.all(Array.from({ length: 8 }, (_, at) => put(`${at}`)))
    expect(keys()).toHaveLength(19)
  })

  it('gives the room of removed objects back to the file system, but for a little', async () => {
    const content = randomBytes(32 * 1024)
    const names = Array.from({ length: 600 }, (_, at) => `${at}`)
    await Promise.all(names.map((name) => put(name, content)))
    pack.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    const { size: full } = await stat(file)
    await Promise.all(names.map((name) => writer.change({ remove: name })))
    await expect.poll(() => pragma('freelist_count')).toBeLessThanOrEqual(1024)
    pack.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    const { size } = await stat(file)
    expect(full).toBeGreaterThan(18 * 2 ** 20)
    expect(size).toBeLessThan(6 * 2 ** 20)
  })
})
