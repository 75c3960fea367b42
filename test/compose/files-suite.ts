import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Client, createClient, sha256 } from './client.ts'
import type { Project } from './project.ts'

const MIB = 2 ** 20

/** Uploads, and what restarts do to them. */
export function filesSuite(project: Project): void {
  describe('the files of a user', () => {
    // More than two parts of a multipart upload.
    const first = randomBytes(20 * MIB)
    const second = randomBytes(12 * MIB + 1)
    let client: Client

    beforeAll(async () => {
      client = await createClient({ port: project.port, cli: project.cli, userId: 'alice' })
    })

    async function expectSecond(): Promise<void> {
      // What /readyz says is up to a second old, so it can tell of the time before the restart.
      await setTimeout(1_100)
      await client.ready()
      expect(await client.download('a.bin')).toEqual({ status: 200, sha256: sha256(second) })
      expect(await client.download('empty')).toEqual({ status: 200, sha256: sha256(Buffer.of()) })
    }

    it('are uploaded and downloaded byte for byte', async () => {
      const { status, json } = await client.upload('a.bin', first)
      expect({ status, ...json }).toMatchObject({ status: 200, sha256: sha256(first) })
      expect(await client.download('a.bin')).toEqual({ status: 200, sha256: sha256(first) })
      expect(await client.upload('empty', Buffer.of())).toMatchObject({ status: 200 })
    })

    it('are replaced by an upload to the same name', async () => {
      const { status, json } = await client.upload('a.bin', second)
      expect({ status, ...json }).toMatchObject({ status: 200, replaced: true })
      await expectSecond()
    })

    it('are refused with 403 when the capacity of the settings is full', async () => {
      const { status, json } = await client.upload('b.bin', Buffer.alloc(53 * MIB))
      expect({ status, ...json }).toMatchObject({
        status: 403,
        code: 'capacity_exceeded',
        capacity: 64 * MIB,
        used: second.length,
      })
      expect(await client.download('b.bin')).toMatchObject({ status: 404 })
    })

    it.each(['service', 'postgres', 'minio'])('outlive a restart of %s', async (name) => {
      await project.compose('restart', name)
      await expectSecond()
    })

    it('outlive docker compose down', async () => {
      await project.compose('down')
      await project.compose('up', '--detach', '--wait')
      await expectSecond()
    })
  })
}
