import { open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { ObjectKey } from '../../../src/core/objects/object-key.ts'
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
  const found = (kind: string, text: string) =>
    tally.violations.filter((violation) => violation.kind === kind && violation.text.includes(text))
  expect(found('lost', `ann/${lost} is answered with 5`)).toHaveLength(1)
  expect(found('lost', `ann/${forgotten} holds absent`)).toHaveLength(1)
  expect(found('altered', `ann/${altered} holds`)).toHaveLength(1)
  expect(found('quota', 'bob: ')).toHaveLength(1)
  expect(found('orphan', `an object without a file: ${stray}`)).toHaveLength(1)
  expect(found('orphan', `an unfinished upload: ${unfinished}`)).toHaveLength(1)
  // The command `verify` finds them as well.
  for (const kind of ['missing_object', 'wrong_digest', 'used_bytes', 'orphaned_object']) {
    expect(tally.violations.map(({ text }) => text).join('\n')).toContain(`verify: ${kind}`)
  }
  const touched = [lost, forgotten, altered, stray, unfinished, 'bob', 'orphan', 'ann: ', 'sweeps']
  const others = tally.violations.filter(({ text }) => !touched.some((part) => text.includes(part)))
  // A missing object is an error of the service's own to whoever reads it.
  expect(others.filter(({ text }) => !text.startsWith('50'))).toEqual([])
}, 120_000)

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
  return { lost: lost.name, forgotten: forgotten.name, altered: altered.name, stray, unfinished }
}

async function flipFirstByte(path: string): Promise<void> {
  const handle = await open(path, 'r+')
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, 0)
  await handle.write(Buffer.from([(buffer[0] ?? 0) ^ 1]), 0, 1, 0)
  await handle.close()
}
