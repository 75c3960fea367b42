import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createMemoryFolder } from '../support/servers/local-server.ts'
import { restoreSqlite } from './sqlite-dump.ts'
import { upgradeSuite } from './upgrade-suite.ts'

upgradeSuite('embedded', async (folder, opened) => {
  const data = await createMemoryFolder('upgrade')
  opened.defer(() => data.remove())
  const dump = await readFile(join(folder, 'database.sql'), 'utf8')
  restoreSqlite(join(data.path, 'database.sqlite'), dump)
  await promisify(execFile)('tar', ['-xzf', join(folder, 'objects.tar.gz'), '-C', data.path])
  return { DATA_DIR: data.path }
})
