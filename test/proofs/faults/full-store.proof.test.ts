import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import type { ObjectKey } from '../../../src/core/objects/object-key.ts'
import { createS3Store } from '../../../src/object-store/s3/store.ts'
import { eventually } from '../../support/eventually.ts'
import { fillDisk, inside, missingSmallDisk, onSmallDisk } from '../../support/faults/small-disk.ts'
import { chunked, digest, freshKey, read } from '../../support/objects.ts'
import { isSkipped } from '../../support/servers/needs.ts'
import { type S3Program, startS3Program } from '../../support/servers/s3-server.ts'
import { freshBucket } from '../../support/service/test-bucket.ts'
import { eachS3Server } from './each-s3-server.ts'

const skipped = isSkipped(await missingSmallDisk())

const MIB = 2 ** 20
const PART_SIZE = 5 * MIB
const DISK = 1024 * MIB
/** Left for the objects beside the filler. */
const ROOM = 64 * MIB

describe.each(await eachS3Server())('E17 $title', ({ program, isMissing }) => {
  it.skipIf(skipped || isMissing)(
    'refuses objects while its disk is full, keeps what it has, and takes them again',
    async () => {
      await using opened = new AsyncDisposableStack()
      const { onDisk, folder } = placeOnDisk(await program())
      const server = await startS3Program(onDisk)
      opened.defer(() => server.stop())
      const bucket = freshBucket(server.address)
      const store = createS3Store({ ...bucket, partSize: PART_SIZE, maxAttempts: 1 })
      opened.defer(() => store.close())
      await vi.waitFor(() => store.prepare(AbortSignal.timeout(30_000)), 30_000)
      const kept = new Map<ObjectKey, string>()
      async function put(size: number): Promise<void> {
        const [key, content] = [freshKey('filled'), randomBytes(size)]
        await store.put({ key, body: chunked(content), signal: AbortSignal.timeout(60_000) })
        kept.set(key, digest(content))
      }
      async function expectKept(): Promise<void> {
        const found = new Map<ObjectKey, string | undefined>()
        for (const key of kept.keys()) found.set(key, (await read(store, key))?.sha256)
        expect(found).toEqual(kept)
      }
      for (const size of [100, 300_000, 2 * PART_SIZE + 1]) await put(size)
      const disk = inside(server, folder())
      const filler = await fillDisk(join(disk, 'filler'), DISK - ROOM)
      await expect(fill(() => put(2 * PART_SIZE + 1))).rejects.toMatchObject(UNAVAILABLE)
      const rest = await fillDisk(join(disk, 'rest'))
      await expect(put(300_000)).rejects.toMatchObject(UNAVAILABLE)
      await expectKept()
      await filler.remove()
      await rest.remove()
      await eventually(() => put(2 * PART_SIZE + 1), 120_000)
      await expectKept()
    },
  )
})

const UNAVAILABLE = { code: 'unavailable' }

async function fill(put: () => Promise<void>): Promise<never> {
  for (;;) await put()
}

/** The server on a small disk in memory in place of its folder, which is told once it has started. */
function placeOnDisk(program: S3Program): { onDisk: S3Program; folder: () => string } {
  let mounted = ''
  const args = (folder: string): readonly string[] => {
    mounted = folder
    return [...onSmallDisk(folder, DISK).slice(1), program.program, ...program.args(folder)]
  }
  return { onDisk: { ...program, program: 'unshare', args }, folder: () => mounted }
}
