import { open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import type { ObjectKey } from '../../../src/core/objects/object-key.ts'
import type { Database } from '../../../src/database/database.ts'
import { freshKey } from '../../support/objects.ts'
import { runCrash } from './run.ts'
import type { World } from './world.ts'

/** What was done behind the service's back. */
interface Planted {
  readonly lost: string
  readonly forgotten: string
  readonly altered: string
  readonly stray: ObjectKey
  readonly unfinished: ObjectKey
  /** The sequence of the change of bob that was deleted, and of that of tight that was recorded once more. */
  readonly deletedChange: number
  readonly doubledChange: number
}

it('a crash run reports each fault that is planted behind the back of the service, and nothing else', async () => {
  let planted: Planted | undefined
  const { tally } = await runCrash({
    places: { postgres: undefined, s3: undefined },
    kills: 0,
    requests: 150,
    seed: 1,
    mostSweeps: 3,
    plant: async (world) => {
      planted = await plantAll(world)
    },
  })
  const { lost = '', forgotten = '', altered = '', stray = '', unfinished = '' } = planted ?? {}
  const { deletedChange = 0, doubledChange = 0 } = planted ?? {}
  const found = (kind: string, text: string) =>
    tally.violations.filter((violation) => violation.kind === kind && violation.text.includes(text))
  expect(found('lost', `ann/${lost} is answered with 5`)).toHaveLength(1)
  expect(found('lost', `ann/${forgotten} holds absent`)).toHaveLength(1)
  expect(found('altered', `ann/${altered} holds`)).toHaveLength(1)
  expect(found('quota', 'bob: ')).toHaveLength(1)
  expect(found('feed', `ann: ${forgotten} is missing, and by its changes`)).toHaveLength(1)
  const gap = `bob: change ${deletedChange + 1} follows change ${deletedChange - 1}`
  expect(found('feed', gap)).toHaveLength(1)
  expect(found('feed', `tight: change ${doubledChange}, file.replaced: version`)).toHaveLength(1)
  expect(found('feed', 'tight: an acknowledged upload')).toHaveLength(1)
  expect(found('orphan', `an object without a file: ${stray}`)).toHaveLength(1)
  expect(found('orphan', `an unfinished upload: ${unfinished}`)).toHaveLength(1)
  // That of the lost one.
  expect(found('orphan', 'no object: users/ann/')).toHaveLength(1)
  // The command `verify` finds them as well.
  for (const kind of ['missing_object', 'wrong_digest', 'used_bytes', 'orphaned_object']) {
    expect(tally.violations.map(({ text }) => text).join('\n')).toContain(`verify: ${kind}`)
  }
  const doubled = [`tight: change ${doubledChange},`, 'is 2 changes']
  const names = [lost, forgotten, altered, stray, unfinished]
  // The events after the change that was recorded once more have other sequences now.
  const shifted = 'webhooks of tight'
  const noted = [shifted, 'bob', 'orphan', 'no object', 'ann: ', 'sweeps']
  const touched = [...names, ...doubled, ...noted]
  const others = tally.violations.filter(({ text }) => !touched.some((part) => text.includes(part)))
  // A missing object is an error of the service's own to whoever reads it.
  expect(others.filter(({ text }) => !text.startsWith('50'))).toEqual([])
})

async function plantAll({ database, environment }: World): Promise<Planted> {
  const { kysely } = database
  const rows = await kysely
    .selectFrom('files')
    .select(['name', 'object_key'])
    .where('user_id', '=', 'ann' as never)
    .where('size', '>', 0)
    // Of a name that several clients write, the oracle may not know the last writer.
    .where('name', 'like', 'own-%' as never)
    .limit(3)
    .execute()
  const [lost, forgotten, altered] = rows
  if (lost === undefined || forgotten === undefined || altered === undefined) {
    throw new Error('There are too few files to harm')
  }
  const pathOf = (key: ObjectKey) => join(environment['DATA_DIR'] ?? '', 'objects', key)
  await rm(pathOf(lost.object_key))
  const rename = kysely
    .updateTable('files')
    .set({ name: 'elsewhere' as never })
    .where('object_key', '=', forgotten.object_key)
  await database.query(() => rename.execute())
  await flipFirstByte(pathOf(altered.object_key))
  const miscount = kysely
    .updateTable('quotas')
    .set((row) => ({ used_bytes: row('used_bytes', '+', 1) }))
    .where('user_id', '=', 'bob' as never)
  await database.query(() => miscount.execute())
  const stray = freshKey('bob')
  await writeFile(pathOf(stray), 'stray')
  const unfinished = freshKey('bob')
  await writeFile(`${pathOf(unfinished)}.tmp`, 'unfinished')
  const changes = {
    deletedChange: await deleteChange(database),
    doubledChange: await doubleChange(database),
  }
  const names = { lost: lost.name, forgotten: forgotten.name, altered: altered.name }
  return { ...names, stray, unfinished, ...changes }
}

/** As a commit that changes a file of bob and records nothing. */
async function deleteChange(database: Database): Promise<number> {
  const { rows } = await database.query((kysely) =>
    sql<{ readonly sequence: number }>`
      DELETE FROM changes WHERE user_id = 'bob' AND sequence = (
        SELECT change_count / 2 FROM quotas WHERE user_id = 'bob'
      ) RETURNING sequence
    `.execute(kysely),
  )
  return rows[0]?.sequence ?? 0
}

/** As a commit of tight that is repeated, and recorded each time. */
async function doubleChange(database: Database): Promise<number> {
  const count = sql`
    UPDATE quotas SET change_count = change_count + 1, previously_changed_at = changed_at
    WHERE user_id = 'tight'
  `
  const record = sql<{ readonly sequence: number }>`
    INSERT INTO changes (user_id, sequence, type, at, previous_at, name, version, size, sha256, visibility)
    SELECT user_id, change_count, 'file.replaced', changed_at, changed_at, name, version, size,
      sha256, visibility
    FROM quotas JOIN files USING (user_id) WHERE user_id = 'tight' AND size > 0 LIMIT 1
    RETURNING sequence
  `
  await database.query((kysely) => count.execute(kysely))
  const { rows } = await database.query((kysely) => record.execute(kysely))
  return rows[0]?.sequence ?? 0
}

async function flipFirstByte(path: string): Promise<void> {
  const handle = await open(path, 'r+')
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, 0)
  await handle.write(Buffer.from([(buffer[0] ?? 0) ^ 1]), 0, 1, 0)
  await handle.close()
}
