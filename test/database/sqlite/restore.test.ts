import { readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { backUp } from '../../../src/database/sqlite/backup.ts'
import { restore } from '../../../src/database/sqlite/restore.ts'
import { openSqlite } from '../../../src/database/sqlite/sqlite.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import { createFolder } from './harness.ts'

let folder: Awaited<ReturnType<typeof createFolder>>
let file: string

beforeEach(async () => {
  folder = await createFolder()
  file = join(folder.path, 'database.sqlite')
})
afterEach(() => folder.remove())

/** Makes a copy, as `backup` does, of a database with the user Ada and one change more. */
async function copyTo(target: string, change = sql`SELECT 1`): Promise<void> {
  const source = await createFolder()
  const database = await openSqlite({ file: join(source.path, 'live.db') })
  await migrate(database)
  await createUserStore(database, { baseCapacity: 0 }).createUser(parseUserId('ada'))
  await change.execute(database.kysely)
  await backUp(database, `${source.path}/copy`)
  await database.close()
  await writeFile(target, await readFile(`${source.path}/copy`))
  await source.remove()
}

/** What a copy is refused with, when nothing is left of it. */
async function refusalOf(fetch: (temporary: string) => Promise<void>): Promise<string> {
  const before = await readdir(folder.path)
  const refusal = await restore({ file, fetch }).then(
    () => 'restored',
    (error: unknown) => String(error),
  )
  expect(await readdir(folder.path)).toEqual(before)
  return refusal
}

describe('a restore of the embedded database', () => {
  it('puts a copy in place that the service can go on with, for its owner alone', async () => {
    const { bytes } = await restore({ file, fetch: copyTo })
    expect(await stat(file)).toMatchObject({ size: bytes, mode: 0o100600 })
    expect(await readdir(folder.path)).toEqual(['database.sqlite'])
    const restored = await openSqlite({ file })
    expect(await migrate(restored)).toEqual([])
    expect(
      await createUserStore(restored, { baseCapacity: 0 }).findUser(parseUserId('ada')),
    ).toBeDefined()
    await restored.close()
  })

  it.each(['', '-wal', '-shm'])(
    'never replaces a database, nor takes the log of one for its own (%s)',
    async (end) => {
      await writeFile(file + end, 'precious')
      const fetch = () => Promise.reject(new Error('nothing is to be fetched'))
      expect(await refusalOf(fetch)).toContain(`${file}${end} already exists`)
      expect(await readFile(file + end, 'utf8')).toBe('precious')
    },
  )

  it('says what to do about the file of one that was killed', async () => {
    await writeFile(`${file}.restore`, 'half')
    const fetch = () => Promise.reject(new Error('nothing is to be fetched'))
    const refusal = await refusalOf(fetch)
    expect(refusal).toContain(`${file}.restore already exists`)
    expect(refusal).toContain('If that command was killed, delete the file.')
  })

  it('never replaces a database that came to be while the copy was fetched', async () => {
    const fetch = async (temporary: string): Promise<void> => {
      await copyTo(temporary)
      await writeFile(file, 'precious')
    }
    await expect(restore({ file, fetch })).rejects.toThrow('EEXIST')
    expect(await readFile(file, 'utf8')).toBe('precious')
    expect(await readdir(folder.path)).toEqual(['database.sqlite'])
  })

  it.each([1, 4096, 40_000])('refuses a copy that lacks its last %i bytes', async (lacking) => {
    const fetch = async (temporary: string): Promise<void> => {
      await copyTo(temporary)
      const { size } = await stat(temporary)
      await truncate(temporary, size - lacking)
    }
    expect(await refusalOf(fetch)).toContain('The copy is damaged')
  })

  it('refuses what is no database, and a database of something else', async () => {
    const noise = await refusalOf((temporary) => writeFile(temporary, 'no database'.repeat(1000)))
    expect(noise).toContain('The copy is damaged')
    const other = await refusalOf(async (temporary) => {
      const connection = new DatabaseSync(temporary)
      connection.exec('CREATE TABLE notes (text)')
      connection.close()
    })
    expect(other).toContain('not a database of this service')
    expect(await refusalOf(() => Promise.resolve())).toContain('not a database of this service')
  })

  it('refuses a copy that a newer version has migrated', async () => {
    const newer = sql`INSERT INTO kysely_migration VALUES ('2099-01-01-later', '2099')`
    const refusal = await refusalOf((temporary) => copyTo(temporary, newer))
    expect(refusal).toContain('newer version')
  })

  it('leaves nothing when the copy can not be fetched', async () => {
    const fetch = async (temporary: string): Promise<void> => {
      await writeFile(temporary, 'half')
      throw new Error('broken off')
    }
    expect(await refusalOf(fetch)).toContain('broken off')
  })
})
