import { access, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { createVersion, objectKey } from '../../../../src/core/objects/object-key.ts'
import { type Figures, runCrash } from '../run.ts'
import type { ViolationKind } from '../tally.ts'
import type { Places, World } from '../world.ts'

const minio = inject('minio')
const postgres = inject('postgres')
const missing = minio === undefined || postgres === undefined

const LOCAL: Places = { postgres: undefined, s3: undefined }

type Plant = (world: World, id: string) => Promise<void>

describe('a crash run sees in resumable uploads', () => {
  it('an offset that shrinks, a lost append, a file committed twice and a reservation that is kept', async () => {
    const figures = await run(LOCAL, [shrinkOffset, loseBytes, commitTwice, keepReservation])
    expectSeen(figures, 'lost', /left\/0 .*: the offset shrank from \d+ to/)
    expectSeen(figures, 'lost', /left\/1 .*: \d+ acknowledged bytes of \d+ ended as lost/)
    expectSeen(figures, 'altered', /two files of one upload/)
    expectSeen(figures, 'quota', /ann: .*"reserved":5/)
  })

  it.skipIf(missing)('a tail that is removed too early', async () => {
    const figures = await run({ postgres, s3: minio }, [removeTail])
    expectSeen(figures, 'lost', /can not be finished/)
  })
})

/** Each plant has an unfinished upload of its own. */
function run(places: Places, plants: readonly Plant[]): Promise<Figures> {
  return runCrash({
    places,
    kills: 0,
    requests: 60,
    seed: 1,
    mostSweeps: 2,
    unfinished: plants.length,
    plant: async (world, ids) => {
      for (const [at, plant] of plants.entries()) await plant(world, ids[at] ?? '')
    },
  })
}

function expectSeen({ tally: { violations } }: Figures, kind: ViolationKind, text: RegExp): void {
  const texts = violations.flatMap((found) => (found.kind === kind ? found.text : []))
  expect(texts).toContainEqual(expect.stringMatching(text))
}

/** As a record of an append that a later one had fenced. */
async function shrinkOffset({ database }: World, id: string): Promise<void> {
  const halve = sql`UPDATE resumable_uploads SET received_bytes = received_bytes / 2 WHERE version = ${id}`
  await database.query((kysely) => halve.execute(kysely))
}

/** As an append that was acknowledged before its bytes were durable. */
async function loseBytes({ environment }: World, id: string): Promise<void> {
  const path = join(
    environment['DATA_DIR'] ?? '',
    'objects',
    objectKey('ann' as never, id as never),
  )
  await access(`${path}.tmp`)
  await truncate(`${path}.tmp`, 10)
}

async function commitTwice({ database }: World, id: string): Promise<void> {
  const file = await database.kysely
    .selectFrom('files')
    .selectAll()
    .where('user_id', '=', 'ann' as never)
    .where('size', '>', 0)
    .executeTakeFirstOrThrow()
  const version = createVersion()
  const again = { version, object_key: objectKey(file.user_id, version), name: id as never }
  const values = { ...file, ...again }
  await database.query((kysely) => kysely.insertInto('files').values(values).execute())
}

async function keepReservation({ database }: World): Promise<void> {
  const keep = sql`UPDATE quotas SET reserved_bytes = reserved_bytes + 5 WHERE user_id = 'ann'`
  await database.query((kysely) => keep.execute(kysely))
}

/** As a sweep that takes the tail of an upload for garbage. */
async function removeTail({ database, service }: World, id: string): Promise<void> {
  const { object_key: key } = await database.kysely
    .selectFrom('upload_pieces')
    .select('object_key')
    .where('version', '=', id as never)
    .where('object_key', 'is not', null)
    .executeTakeFirstOrThrow()
  if (key === null) throw new Error('There is no tail')
  await service.objects.remove({ key, signal: AbortSignal.timeout(10_000) })
}
