import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { type Client, createClient, sha256 } from './client.ts'
import type { Project } from './project.ts'

const MIB = 2 ** 20
const OUTAGE_MS = 20_000

const FAULTS = [
  { part: 'object_store', service: 'minio', how: 'killed', begin: 'kill', end: 'start' },
  { part: 'object_store', service: 'minio', how: 'frozen', begin: 'pause', end: 'unpause' },
  { part: 'database', service: 'postgres', how: 'killed', begin: 'kill', end: 'start' },
  { part: 'database', service: 'postgres', how: 'frozen', begin: 'pause', end: 'unpause' },
] as const

/** A part that is gone for 20 s while an upload runs. */
export function faultsSuite(project: Project): void {
  describe('while an upload runs and a part is gone for 20 s', () => {
    const old = randomBytes(3 * MIB)
    const fresh = randomBytes(24 * MIB)
    let client: Client

    beforeAll(async () => {
      client = await createClient({ port: project.port, cli: project.cli, userId: 'bob' })
    })

    afterEach(async () => {
      await project.compose('unpause', 'minio', 'postgres').catch(() => undefined)
      await project.compose('start', 'minio', 'postgres')
      await client.ready()
    })

    it.each(FAULTS)(
      '$service $how: it is named, nothing is lost, and it mends by itself',
      async (fault) => {
        const { compose } = project
        const identity = '{{.Id}} {{.State.StartedAt}} {{.RestartCount}}'
        const before = await project.inspect('service', identity)
        await client.upload('kept.bin', old)
        await client.upload('slow.bin', old)

        const upload = client.uploadSlowly('slow.bin', fresh, 30)
        await setTimeout(4_000)
        await compose(fault.begin, fault.service)
        const restored = setTimeout(OUTAGE_MS).then(() => compose(fault.end, fault.service))
        await expectNotReady(client, fault.part)
        const [answer] = await Promise.all([upload, restored])

        expect([200, 503]).toContain(answer.status)
        if (answer.status === 503) expectClear(answer)
        await client.ready()
        expect(await project.inspect('service', identity)).toBe(before)
        const stands = answer.status === 200 ? fresh : old
        expect(await client.download('slow.bin')).toEqual({ status: 200, sha256: sha256(stands) })
        expect(await client.download('kept.bin')).toEqual({ status: 200, sha256: sha256(old) })
        expect(await client.upload('slow.bin', fresh)).toMatchObject({ status: 200 })
        expect(await client.download('slow.bin')).toMatchObject({ sha256: sha256(fresh) })
      },
    )
  })
}

async function expectNotReady(client: Client, failing: 'object_store' | 'database'): Promise<void> {
  await eventually(async () => {
    const { status, json } = await client.readiness()
    expect({ status, ...json }).toMatchObject({
      status: 503,
      code: 'unavailable',
      object_store: 'ok',
      database: 'ok',
      [failing]: 'failing',
    })
  }, 15_000)
}

function expectClear(answer: { headers: Readonly<Record<string, string>>; body: Buffer }): void {
  expect(answer.headers).toMatchObject({ 'content-type': 'application/problem+json' })
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
  expect(JSON.parse(answer.body.toString())).toMatchObject({ code: 'unavailable' })
}
