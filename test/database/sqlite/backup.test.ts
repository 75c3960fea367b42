import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { backUp } from '../../../src/database/sqlite/backup.ts'
import type { Database } from '../../../src/database/database.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { openSqlite } from '../../../src/database/sqlite/sqlite.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import { createFolder } from './harness.ts'

let folder: Awaited<ReturnType<typeof createFolder>>
let database: Database
let copy: string

beforeEach(async () => {
  folder = await createFolder()
  copy = join(folder.path, 'copy.db')
  database = await openSqlite({ file: join(folder.path, 'test.db') })
  await migrate(database)
  await createUserStore(database, { baseCapacity: 0 }).createUser(parseUserId('ada'))
})
afterEach(async () => {
  await database.close()
  await folder.remove()
})

describe('a backup of the embedded database', () => {
  it('holds what is in the database, the write-ahead log included, for its owner alone', async () => {
    const { bytes } = await backUp(database, copy)
    expect(await stat(copy)).toMatchObject({ size: bytes, mode: 0o100600 })
    const restored = await openSqlite({ file: copy })
    expect(await migrate(restored)).toEqual([])
    expect(
      await createUserStore(restored, { baseCapacity: 0 }).findUser(parseUserId('ada')),
    ).toBeDefined()
    await restored.close()
  })

  it('never replaces a file, be it one that another call is writing', async () => {
    for (const path of [copy, `${copy}.tmp`]) {
      await writeFile(path, 'precious')
      await expect(backUp(database, copy)).rejects.toThrow(/already|EEXIST/)
      expect(await readFile(path, 'utf8')).toBe('precious')
      await rm(path)
    }
  })

  it('leaves nothing when it fails', async () => {
    const copyTo = async (file: string): Promise<void> => {
      await writeFile(file, 'half')
      throw new Error('no room')
    }
    await expect(backUp({ copyTo }, copy)).rejects.toThrow('no room')
    expect((await readdir(folder.path)).filter((name) => name.startsWith('copy'))).toEqual([])
  })

  it('is not for PostgreSQL', async () => {
    await expect(backUp({ copyTo: undefined }, copy)).rejects.toThrow('pg_dump')
  })
})
