// On PostgreSQL and MinIO, behind nginx.
import { describe, expect, inject, it } from 'vitest'
import { forTest } from '../../support/for-test.ts'
import { startDns } from '../../support/faults/dns.ts'
import { answers, freePort } from '../../support/servers/local-server.ts'
import { findNginx, startProxy } from '../../support/servers/nginx.ts'
import { exitOf, type Started, startProgram } from '../../support/service/program.ts'
import { Clients } from './clients.ts'
import { openWorld, type World } from './world.ts'
import { isSkipped, whyMissing } from '../../support/servers/needs.ts'

const minio = inject('minio')
const postgres = inject('postgres')
const isWithoutNginx = isSkipped(await whyMissing(findNginx()))
const missing = minio === undefined || postgres === undefined || isWithoutNginx

/** The hosts of the two instances, on one port, as containers are. */
const HOSTS = ['127.0.0.2', '127.0.0.3'] as const
const ROUNDS = Number(process.env['ROLLING_ROUNDS'] ?? 2)

describe.skipIf(missing)('a rolling restart of two instances under load', () => {
  it('fails no request, behind nginx or of clients that leave the instance in time', async () => {
    const world = forTest().use(await openWorld({ postgres, s3: minio }))
    const port = await freePort()
    const instances = new Map<string, Started>()
    for (const host of HOSTS) instances.set(host, await startInstance(world, { host, port }))
    const dns = await startDns(HOSTS)
    forTest().defer(() => dns.stop())
    const proxy = await startProxy({ port, dnsPort: dns.port })
    forTest().defer(() => proxy.stop())

    const clients = new Clients(world, { host: '127.0.0.1', port: proxy.port })
    const working = clients.run()
    let unaccepted = 0
    for (let round = 0; round < ROUNDS; round++) {
      for (const host of HOSTS) {
        const direct = new Clients(world, { host, port, isDirect: true })
        const talking = direct.run()
        await expect.poll(() => direct.requests, { timeout: 60_000 }).toBeGreaterThan(20)
        instances.get(host)?.process.kill('SIGTERM')
        direct.leave()
        expect(await exitOf(instances.get(host)?.process ?? fail())).toBe(0)
        await talking
        expect(direct.failures).toEqual([])
        // Whom it did accept, it has answered.
        expect(instances.get(host)?.output()).not.toContain('"status":499')
        unaccepted += direct.unaccepted
        instances.set(host, await startInstance(world, { host, port }))
      }
    }
    clients.finish()
    await working
    expect(clients.failures).toEqual([])
    expect(clients.requests).toBeGreaterThan(100)
    // The moment is short, so that few of the stops find someone in it.
    expect(unaccepted).toBeLessThanOrEqual(ROUNDS)
    console.info(
      `${ROUNDS} rounds, ${clients.requests} requests through nginx, none failed; ` +
        `${unaccepted} connections came in the moment of a close`,
    )
  })
})

function fail(): never {
  throw new Error('There is no such instance')
}

async function startInstance(
  { environment }: World,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Started> {
  const settings = { ...environment, LOG_LEVEL: 'info', HOST: host, PORT: String(port) }
  const started = await startProgram({ args: ['serve'], environment: settings, opened: forTest() })
  await expect.poll(started.output, { timeout: 180_000 }).toContain('the API listens at')
  const ready = `http://${host}:${port}/readyz`
  await expect.poll(() => answers(ready), { timeout: 60_000, interval: 100 }).toBe(true)
  return started
}
