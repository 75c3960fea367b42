import { cp, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { openSqlite } from '../../src/database/sqlite/sqlite.ts'
import { temporaryFolder } from '../support/service/program.ts'
import { runCommand } from '../support/service/running-service.ts'
import { type BackupBed, backupSuite } from './backup-suite.ts'

backupSuite('SQLite and files', openEmbedded)

async function openEmbedded(opened: AsyncDisposableStack): Promise<BackupBed> {
  const folder = await temporaryFolder(opened)
  const [live = '', backup = '', restored = ''] = ['live', 'backup', 'restored'].map((name) =>
    join(folder, name),
  )
  const environment = { DATA_DIR: live }
  return {
    environment,
    backUpDatabase: async () => {
      const ran = await runCommand(`backup ${backup}`, { environment, opened })
      expect(ran.code).toBe(0)
      expect(ran.output).toMatch(/^copies +1$/m)
    },
    // They are in the backup.
    backUpObjects: async () => undefined,
    restore: async (objects) => {
      if (objects === 'live') {
        const [copy = ''] = await readdir(join(backup, 'copies'))
        await mkdir(restored)
        const database = join(backup, 'copies', copy, 'database.sqlite')
        await cp(database, join(restored, 'database.sqlite'))
        return { DATA_DIR: restored, OBJECT_STORE: `file:${join(live, 'objects')}` }
      }
      const settings = { DATA_DIR: restored }
      const ran = await runCommand(`restore ${backup}`, { environment: settings, opened })
      expect(ran.code).toBe(0)
      return settings
    },
    letTimePass: async () => {
      const database = await openSqlite({ file: join(live, 'database.sqlite') })
      await sql`UPDATE garbage SET not_before = 0`.execute(database.kysely)
      await database.close()
    },
  }
}
