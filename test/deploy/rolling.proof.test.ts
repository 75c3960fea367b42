// On PostgreSQL and MinIO. Processes stand for pods.
import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { DRAIN_MS } from '../../src/compose/stop.ts'
import { Clients } from '../proofs/crash/clients.ts'
import { send } from '../proofs/crash/request.ts'
import { openWorld, type World } from '../proofs/crash/world.ts'
import { findProgram, freePort } from '../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'
import { only, render } from './chart.ts'
import { Endpoints } from './endpoints.ts'
import { Pod } from './pod.ts'
import { deploymentOf, plainVariables } from './workload.ts'

const minio = inject('minio')
const postgres = inject('postgres')
const isWithoutHelm = isSkipped(await whyMissing(findProgram('helm')))
const missing = minio === undefined || postgres === undefined || isWithoutHelm

const REPLICAS = 2

/** How long nodes and proxies take to learn of a change in a slow cluster. */
const PROPAGATION_MS = 4_500

let opened = new AsyncDisposableStack()

afterEach(async () => {
  await opened.disposeAsync()
  opened = new AsyncDisposableStack()
})

describe.skipIf(missing)('a rolling update with the probes and times of the chart', () => {
  it('fails no request, where connections go to each pod for 4.5 s after it was told to stop', async () => {
    const world = opened.use(await openWorld({ postgres, s3: minio }))
    const values = { replicaCount: REPLICAS }
    const resources = await render({ examples: ['cloudnativepg', 'minio'], values })
    const { replicas, minReadySeconds, template } = deploymentOf(only('Deployment', resources))
    const { spec } = template
    const { preStop } = spec.containers[0].lifecycle
    const port = await freePort()
    const endpoints = opened.use(await Endpoints.open({ port, delayMs: PROPAGATION_MS }))
    const changes: Promise<void>[] = []
    const startPod = (host: string): Promise<Pod> =>
      Pod.start({
        spec,
        host,
        port,
        environment: settingsOf(world, plainVariables(spec.containers[0])),
        onReady: (isReady) => void changes.push(endpoints.set(host, isReady)),
        opened,
      })
    const pods = await Promise.all(
      Array.from({ length: replicas ?? 0 }, (_, at) => startPod(`127.0.0.${at + 2}`)),
    )
    await Promise.all(changes)

    const clients = new Clients(world, { host: '127.0.0.1', port: endpoints.port })
    const working = clients.run()
    const stops: Promise<number | null>[] = []
    const uploads: Promise<unknown>[] = []
    for (const [at, old] of pods.entries()) {
      await startPod(`127.0.0.${at + 2 + pods.length}`)
      await delay(minReadySeconds * 1000)
      // Ends 4 s after the pod has stopped listening.
      const seconds = preStop.sleep.seconds + DRAIN_MS / 1000 + 4
      uploads.push(uploadSlowly(world, { host: old.host, port, seconds }))
      changes.push(endpoints.set(old.host, false))
      stops.push(old.stop())
    }
    expect(await Promise.all(stops)).toEqual(pods.map(() => 0))
    expect(await Promise.all(uploads)).toEqual(pods.map(() => 200))
    await Promise.all(changes)
    clients.finish()
    await working
    expect(clients.failures).toEqual([])
    expect(clients.requests).toBeGreaterThan(100)
    console.info(`${pods.length} pods replaced, ${clients.requests} requests, none failed`)
  })
})

/** The settings of the container, but with the database and the object store of this test. */
function settingsOf(
  { environment }: World,
  variables: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const kept = Object.entries(variables).filter(([name]) => !name.endsWith('_FILE'))
  return { ...Object.fromEntries(kept), ...environment }
}

/** Sends a body to a pod over this many seconds. Resolves to the status, or to why there is none. */
async function uploadSlowly(
  world: World,
  { host, port, seconds }: { readonly host: string; readonly port: number; seconds: number },
): Promise<unknown> {
  const pieces = Array.from({ length: seconds + 1 }, () => Buffer.alloc(100_000, 'a'))
  const outcome = await send({
    agent: new Agent(),
    host,
    port,
    method: 'PUT',
    path: `/users/me/repo/slow-${host}`,
    headers: {
      cookie: world.users[1]?.cookie ?? '',
      'content-length': String(pieces.length * 100_000),
    },
    body: pieces,
    pauseMs: 1000,
  })
  return outcome.kind === 'reply' ? outcome.status : outcome
}
