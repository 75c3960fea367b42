import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { UserId } from '../../../src/core/users/user-id.ts'
import { createFilesystemStore } from '../../../src/object-store/filesystem/store.ts'
import { cutTo } from '../../object-store/filesystem/pack/damage.ts'
import { never } from '../../support/objects.ts'
import { verify } from '../../support/verify.ts'
import { openEmbedded } from './embedded.ts'
import { ALICE, BOB, openBed, type VerifyBed } from './fixture.ts'

describe('E18 verify of a pack that was cut short', () => {
  let bed: VerifyBed
  let directory: string

  beforeEach(async () => {
    bed = await openBed(() =>
      openEmbedded((path) => createFilesystemStore({ directory: (directory = path) })),
    )
  })
  afterEach(() => bed.close())

  /** As the body of a small request, which arrives whole. */
  async function uploadPacked(userId: UserId, name: string): Promise<void> {
    const content = 'x'.repeat(700)
    const key = await bed.upload(userId, name, content)
    await bed.objects.remove({ key, signal: never() })
    await bed.objects.put({ key, body: Buffer.from(content), signal: never() })
  }

  it.each([0.3, 0.7, 0.95])('at %f of its pages names each file that is lost', async (share) => {
    const names = Array.from({ length: 120 }, (_, at) => `file-${at}`)
    for (const name of names) await uploadPacked(ALICE, name)
    await uploadPacked(BOB, 'only')
    await bed.objects.close()
    const pack = join(directory, 'pack.sqlite')
    const connection = new DatabaseSync(pack)
    connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    connection.close()
    await cutTo(pack, share)
    const { findings, verification } = await verify(bed, { readOneIn: 1 })
    const lost = new Set(findings.map(({ userId, name }) => `${userId}/${name}`))
    expect(new Set(findings.map(({ kind }) => kind))).not.toContain('orphaned_object')
    expect(lost.size).toBeGreaterThan(0)
    expect(verification.readFiles + lost.size).toBe(121)
  })
})
