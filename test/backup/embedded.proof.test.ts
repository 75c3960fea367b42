import { execFile } from 'node:child_process'
import { cp, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { openSqlite } from '../../src/database/sqlite/sqlite.ts'
import { temporaryFolder } from '../support/service/program.ts'
import { runCommand } from '../support/service/running-service.ts'
import { type BackupBed, backupSuite } from './backup-suite.ts'

backupSuite('SQLite and files', openEmbedded)

async function openEmbedded(opened: AsyncDisposableStack): Promise<BackupBed> {
  const folder = await temporaryFolder(opened)
  const [live, backup, restored] = ['live', 'backup', 'restored'].map((name) => join(folder, name))
  if (!live || !backup || !restored) throw new Error('three folders')
  const environment = { DATA_DIR: live }
  await mkdir(backup)
  const copy = join(backup, 'database.sqlite')
  return {
    environment,
    backUpDatabase: async () => {
      const ran = await runCommand(`backup ${copy}`, { environment, opened })
      expect(ran.code).toBe(0)
      expect(ran.output).toMatch(/^bytes +[\d.]+ [KM]iB$/m)
      expect(await readdir(backup)).toEqual(['database.sqlite'])
    },
    backUpObjects: async () => {
      // Temporary files come and go meanwhile, of which `cp` complains.
      const [from, to] = [join(live, 'objects'), join(backup, 'objects')]
      await mkdir(to, { recursive: true })
      const plain = ['users', 'store-id'].map((name) => join(from, name))
      await promisify(execFile)('cp', ['-a', ...plain, to]).catch(() => undefined)
      const packs = [from, to].map((folder) => join(folder, 'pack.sqlite')).join(' ')
      const copied = await runCommand(`pack copy ${packs}`, { environment, opened })
      expect(copied.code).toBe(0)
    },
    restore: async (objects) => {
      await mkdir(restored)
      await cp(copy, join(restored, 'database.sqlite'))
      const from = objects === 'backup' ? backup : live
      return { DATA_DIR: restored, OBJECT_STORE: `file:${join(from, 'objects')}` }
    },
    letTimePass: async () => {
      const database = await openSqlite({ file: join(live, 'database.sqlite') })
      await sql`UPDATE garbage SET not_before = 0`.execute(database.kysely)
      await database.close()
    },
  }
}
