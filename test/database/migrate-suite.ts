import { spawn } from 'node:child_process'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { parseUserId } from '../../src/core/users/user-id.ts'
import { createUserStore } from '../../src/database/users/user-store.ts'
import { createLedger } from '../../src/database/ledger/ledger.ts'
import { migrate, migrations, runMigrations } from '../../src/database/migrate.ts'
import { part, resumablesOf, tailPiece } from '../core/ledger/resumable/fixture.ts'
import { readUsage } from '../support/read-usage.ts'
import { exitOf } from '../support/service/program.ts'

export interface MigrateBed {
  /** The path of the file, or the URL. */
  readonly address: string
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

    it('F10 counts garbage beside a release that knows nothing of that', async () => {
      const database = await bed.open()
      await runMigrations(database, before(database, '2026-11-23-count-garbage'))
      const run = async (statement: string): Promise<void> => {
        await sql.raw(statement).execute(database.kysely)
      }
      await run(`INSERT INTO users VALUES ('alice', 'active', 1)`)
      await run(`INSERT INTO quotas VALUES ('alice', 0, 0, 0)`)
      await run(`INSERT INTO garbage (object_key, not_before) VALUES ('before', 1)`)
      await migrate(database)
      await run(`INSERT INTO garbage (object_key, not_before) VALUES ('older', 1)`)
      expect(await countedGarbage(database)).toBe(0)
      const newer = 'INSERT INTO garbage (object_key, not_before, user_id, bytes) VALUES'
      await run(`${newer} ('newer', 1, 'alice', 5), ('newest', 1, 'alice', 7)`)
      expect(await countedGarbage(database)).toBe(12)
      await run(`DELETE FROM garbage WHERE object_key IN ('before', 'older', 'newer')`)
      expect(await countedGarbage(database)).toBe(7)
      await run(`DELETE FROM users WHERE id = 'alice'`)
      const { rows } = await sql`SELECT object_key, user_id FROM garbage`.execute(database.kysely)
      expect(rows).toEqual([{ object_key: 'newest', user_id: null }])
      await database.close()
    })

    it('ignores the grants that an earlier release revoked and kept, and deletes them later', async () => {
      const database = await bed.open()
      await migrate(database)
      const userId = parseUserId('alice')
      const users = createUserStore(database, { baseCapacity: 100 })
      const ledger = createLedger(database, { baseCapacity: 100 })
      const capacity = async () => (await ledger.reportCapacity(userId))?.usage.capacity
      await users.createUser(userId)
      const terms = { model: undefined, startsAt: undefined, endsAt: undefined, bytes: 10 }
      const grant = (reference: string) => ({ userId, source: 'device', reference, ...terms })
      for (const reference of ['kept', 'revoked', 'back']) await users.putGrant(grant(reference))
      await sql`UPDATE grants SET revoked_at = 1 WHERE reference <> 'kept'`.execute(database.kysely)
      expect(await capacity()).toBe(110)
      expect((await users.putGrant(grant('back'))).created).toBe(true)
      expect(await capacity()).toBe(120)
      await users.revokeGrant(grant('kept'))
      expect(await capacity()).toBe(110)
      expect((await sql`SELECT reference FROM grants`.execute(database.kysely)).rows).toEqual([
        { reference: 'back' },
      ])
      await database.close()
    })

    it('F10 counts ended uploads beside a release that knows nothing of that', async () => {
      const database = await bed.open()
      await runMigrations(database, before(database, '2026-11-24-uploads-as-garbage'))
      const run = async (statement: string): Promise<void> => {
        await sql.raw(statement).execute(database.kysely)
      }
      await run(`INSERT INTO users VALUES ('alice', 'active', 1)`)
      await run(`INSERT INTO quotas VALUES ('alice', 0, 0, 0, 0)`)
      const begin = (version: string, state = `'pending', 9, NULL`): Promise<void> =>
        run(`INSERT INTO uploads (version, user_id, name, object_key, reserved_bytes, state,
          lease_until, settled_at) VALUES ('${version}', 'alice', 'a', 'a', 0, ${state})`)
      await begin('before', `'aborted', 9, 1`)
      await migrate(database)
      await begin('older', `'aborted', 9, 1`)
      for (const version of ['one', 'two']) await begin(version)
      const ledger = createLedger(database, { baseCapacity: 100 })
      const userId = parseUserId('alice')
      const version = (text: string) => text as Parameters<typeof ledger.abort>[0]['version']
      for (const each of ['one', 'two']) await ledger.abort({ userId, version: version(each) })
      expect(await countedGarbage(database)).toBe(2 * 4096)
      // As an older instance forgets them, and as the purge of a user does.
      await run(`DELETE FROM uploads WHERE version IN ('before', 'older', 'one')`)
      expect(await countedGarbage(database)).toBe(4096)
      await run(`DELETE FROM users WHERE id = 'alice'`)
      expect((await sql`SELECT version FROM uploads`.execute(database.kysely)).rows).toEqual([])
      await database.close()
    })

    it('R35 keeps resumable uploads beside a release that knows nothing of them', async () => {
      const database = await bed.open()
      await runMigrations(database, before(database, '2026-11-23-resumable-uploads'))
      const ask = async (statement: string) =>
        (await sql.raw<Record<string, number>>(statement).execute(database.kysely)).rows
      await ask(`INSERT INTO users VALUES ('alice', 'active', 1)`)
      await ask(`INSERT INTO quotas VALUES ('alice', 0, 7, 0, 0)`)
      const insert = 'INSERT INTO uploads (version, user_id, name, object_key, reserved_bytes,'
      await ask(
        `${insert} state, lease_until) VALUES ('plain', 'alice', 'p', 'p', 7, 'pending', 9)`,
      )
      expect(await migrate(database)).toContain('2026-11-23-resumable-uploads')

      const ledger = createLedger(database, { baseCapacity: 100 })
      const caller = { userId: parseUserId('alice'), userCreatedAt: 1 }
      const uploads = resumablesOf(ledger, caller)
      const live = await uploads.create('a', 20)
      const expiring = await uploads.create('b', 20, { emptyLifetimeMs: 0 })
      const tailKey = uploads.tailKey()
      const { upload } = await uploads.hold(live, { tailKey })
      const pieces = [part(0), tailPiece(8, { size: 3, key: tailKey })]
      await uploads.record(upload, { offset: 11, replacedFrom: 0, pieces })

      // What an older instance asks and does, by its own clock, which is the database's.
      const now = await ledger.check()
      const due = `state = 'pending' AND lease_until <= ${now}`
      const counted = await ask(`SELECT COUNT(*) AS n FROM uploads
        WHERE user_id = 'alice' AND state = 'pending' AND lease_until > ${now}`)
      expect(counted).toEqual([{ n: 1 }])
      expect(await ask(`SELECT object_key FROM garbage WHERE not_before <= ${now}`)).toEqual([])
      const aborted = await ask(`UPDATE uploads
        SET state = 'aborted', settled_at = ${now}, remove_at = ${now}
        WHERE user_id = 'alice' AND ${due} RETURNING reserved_bytes`)
      expect(aborted).toHaveLength(2)
      await ask(`UPDATE quotas SET reserved_bytes = reserved_bytes - 27 WHERE user_id = 'alice'`)
      expect(await uploads.find(expiring)).toMatchObject({ state: 'expired' })
      expect(await readUsage(ledger, caller.userId)).toMatchObject({ reserved: 20 })
      await ask(`DELETE FROM uploads WHERE state = 'aborted'`)
      expect(await ledger.findResumable({ ...caller, version: expiring.version })).toBe(undefined)
      expect(await uploads.find(live)).toMatchObject({ state: 'open', offset: 11 })
      expect(await ledger.listPieces(live.version)).toEqual(pieces)

      // A purge: its uploads go, and their tails stay until they are due.
      await ask(`UPDATE uploads SET state = 'aborted', settled_at = 1, remove_at = 1`)
      await ask(`DELETE FROM uploads WHERE version = '${live.version}' AND state = 'aborted'`)
      await ask(`DELETE FROM users WHERE id = 'alice'`)
      expect(await ledger.listPieces(live.version)).toEqual([])
      expect(await ask('SELECT version FROM resumable_uploads')).toEqual([])
      expect(await ask('SELECT object_key FROM garbage')).toEqual([{ object_key: tailKey }])
      await database.close()
    })
  })
}

function before(database: Database, name: string) {
  const older = Object.entries(migrations(database)).filter(([key]) => key < name)
  return Object.fromEntries(older)
}

async function countedGarbage({ kysely }: Database): Promise<number | undefined> {
  const { garbage_bytes } = await kysely
    .selectFrom('quotas')
    .select('garbage_bytes')
    .executeTakeFirstOrThrow()
  return garbage_bytes
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
