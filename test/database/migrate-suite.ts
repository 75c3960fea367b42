import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { migrate, migrations, runMigrations } from '../../src/database/migrate.ts'
import { exitOf } from '../support/service/program.ts'

export interface MigrateBed {
  /** The path of the file, or the URL. */
  readonly address: string
  /** Of the schema that all migrations make. A digest that changes after a release needs a migration of its own. */
  readonly schema: { readonly sha256: string; read(database: Database): Promise<readonly string[]> }
  open(): Promise<Database>
  remove(): Promise<void>
}

/** F10: what becomes of a database whose migration is interrupted, or whose program is too old. */
export function migrateSuite(name: string, openBed: () => Promise<MigrateBed>): void {
  describe(`a migration on ${name}`, () => {
    let bed: MigrateBed
    beforeEach(async () => {
      bed = await openBed()
    })
    afterEach(() => bed.remove())

    it('makes the schema that it has always made', async () => {
      const database = await bed.open()
      await migrate(database)
      const statements = await bed.schema.read(database)
      const sha256 = createHash('sha256').update(statements.join('\n')).digest('hex')
      expect({ sha256, statements }).toEqual({ sha256: bed.schema.sha256, statements })
      await database.close()
    })

    it('F10 that is killed in the middle leaves nothing, and the next start does it all', async () => {
      await killInTheMiddle(bed.address)
      const database = await bed.open()
      expect(await tablesOf(database)).not.toContain('half')
      expect(await tablesOf(database)).not.toContain('files')
      expect(await migrate(database)).toEqual(Object.keys(migrations(database)))
      expect(await tablesOf(database)).toContain('files')
      expect(await migrate(database)).toEqual([])
      await database.close()
    })

    it('F10 that is killed leaves a database that was in use as it was', async () => {
      const database = await bed.open()
      await migrate(database)
      const before = await tablesOf(database)
      await killInTheMiddle(bed.address)
      expect(await migrate(database)).toEqual([])
      expect(await tablesOf(database)).toEqual(before)
      await database.close()
    })

    it('F10 is refused, with the reason, on a database of a newer version', async () => {
      const database = await bed.open()
      const newer = { '9999-12-31-newer': { up: async () => undefined } }
      await runMigrations(database, { ...migrations(database), ...newer })
      const before = await tablesOf(database)
      await expect(migrate(database)).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(/newer version.*"9999-12-31-newer"/) as unknown,
      })
      expect(await tablesOf(database)).toEqual(before)
      await database.close()
    })
  })
}

async function tablesOf({ kysely }: Database): Promise<string[]> {
  return (await kysely.introspection.getTables()).map(({ name }) => name).sort()
}

async function killInTheMiddle(address: string): Promise<void> {
  const worker = new URL('migration-worker.ts', import.meta.url)
  const child = spawn(process.execPath, [worker.pathname, address], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  try {
    await expect.poll(() => output, { timeout: 60_000 }).toContain('in the middle')
  } finally {
    child.kill('SIGKILL')
    await exitOf(child)
  }
}
