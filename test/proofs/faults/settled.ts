import { expect } from 'vitest'
import { usageOf } from '../../http/fixture.ts'
import { eventually } from '../../support/eventually.ts'
import { openUploads } from '../../support/service/test-bucket.ts'
import type { TestUser } from '../../support/service/test-service.ts'
import { verify } from '../../support/verify.ts'
import type { FaultyService } from './faulty-service.ts'
import { keysOf } from './journey.ts'

interface UploadOutcome {
  readonly user: TestUser
  /** Of the files that the user has. */
  readonly names: readonly string[]
}

/**
 * Asserts that once the leases are over two sweeps leave files and nothing else (I8), that the figures are those of
 * the files (I4), and that `verify` finds nothing.
 */
export async function expectSettled(
  faulty: FaultyService,
  { user, names }: UploadOutcome,
): Promise<void> {
  const { sound, database } = faulty
  await eventually(async () => {
    await sound.sweep()
    expect((await usageOf(sound, user)).reserved).toBe(0)
  })
  const referenced = [...(await keysOf(sound, { user, names }))].sort()
  // What was on its way when the fault ended may still land; the sweeps after that take it.
  await eventually(async () => {
    await sound.sweep()
    await sound.sweep()
    expect((await sound.storedKeys(user)).sort()).toEqual(referenced)
  })
  expect(await openUploadsOf(faulty)).toEqual([])
  expect((await verify({ database, objects: sound.objects })).findings).toEqual([])
  expect(await usageOf(sound, user)).toMatchObject({ reserved: 0, fileCount: names.length })
}

/** The multipart uploads that are open under any key of the journal. */
async function openUploadsOf({ database, bucket }: FaultyService): Promise<readonly string[]> {
  const rows = await database.kysely.selectFrom('uploads').select('object_key').execute()
  const open = await Promise.all(rows.map((row) => openUploads(bucket, row.object_key)))
  return open.flat()
}
