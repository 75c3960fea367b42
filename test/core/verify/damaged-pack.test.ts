import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFilesystemStore } from '../../../src/object-store/filesystem/store.ts'
import { cutTo } from '../../object-store/filesystem/pack/damage.ts'
import { never } from '../../support/objects.ts'
import { verify } from '../../support/verify.ts'
import { openEmbedded } from './embedded.ts'
import { ALICE, openBed, type VerifyBed } from './fixture.ts'

describe('E18 verify of a damaged pack', () => {
  let bed: VerifyBed
  let directory: string

  beforeEach(async () => {
    bed = await openBed(() =>
      openEmbedded((path) => createFilesystemStore({ directory: (directory = path) })),
    )
  })
  afterEach(() => bed.close())

  /** As the body of a small request, which arrives whole. */
  async function uploadPacked(name: string, content: string): Promise<void> {
    const key = await bed.upload(ALICE, name, content)
    await bed.objects.remove({ key, signal: never() })
    await bed.objects.put({ key, body: Buffer.from(content), signal: never() })
  }

  /** Closes the pack, so that all of it is in its file. */
  async function packOf(files: number, content: string): Promise<string> {
    for (let file = 0; file < files; file++) await uploadPacked(`file-${file}`, content)
    await bed.objects.close()
    const pack = join(directory, 'pack.sqlite')
    const connection = new DatabaseSync(pack)
    connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    connection.close()
    return pack
  }

  it.each([0.3, 0.7, 0.95])(
    'a pack that was cut to %f of its pages ends verify, which says why',
    async (share) => {
      await cutTo(await packOf(40, 'x'.repeat(700)), share)
      await expect(verify(bed)).rejects.toMatchObject({
        code: 'unavailable',
        cause: { message: 'pack.sqlite is damaged' },
      })
    },
  )

  it('names a file whose content alone is damaged, if it reads the files', async () => {
    const pack = await packOf(2, 'x'.repeat(9_000))
    const content = await readFile(pack)
    content.fill('y', content.indexOf('xxxx'), content.indexOf('xxxx') + 4)
    await writeFile(pack, content)
    expect((await verify(bed)).findings).toEqual([])
    const { findings, verification } = await verify(bed, { readOneIn: 1 })
    expect(findings).toMatchObject([{ kind: 'unreadable_object', userId: ALICE }])
    expect(verification.readFiles).toBe(1)
  })
})
