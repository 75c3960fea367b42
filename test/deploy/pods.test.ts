// The timings and commands of the chart, against the service itself.
import { afterEach, describe, expect, it } from 'vitest'
import { openService } from '../../src/compose/compose.ts'
import { readConfig } from '../../src/config/config.ts'
import { STOP_MS } from '../../src/compose/stop.ts'
import { runCommand } from '../cli/run-command.ts'
import { findProgram } from '../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'
import { startProgram, temporaryFolder } from '../support/service/program.ts'
import { only, render, type Resource } from './chart.ts'
import { deploymentOf, plainVariables, workloadOf } from './workload.ts'

const skipped = isSkipped(await whyMissing(findProgram('helm')))

let opened = new AsyncDisposableStack()

afterEach(async () => {
  await opened.disposeAsync()
  opened = new AsyncDisposableStack()
})

const CLUSTERED = { examples: ['cloudnativepg', 'minio'], values: { replicaCount: 3 } }

describe.skipIf(skipped)('the pods of the chart', () => {
  it('are probed where the service answers', async () => {
    const { containers } = podOf(await render({ values: { basePath: '/api' } }))
    const { startupProbe, livenessProbe, readinessProbe } = containers[0]
    const { BASE_PATH = '' } = plainVariables(containers[0])
    const environment = { BASE_PATH }
    const { output } = await startProgram({ args: ['serve'], environment, opened })
    await expect.poll(output, { timeout: 20_000 }).toContain('the API listens at')
    const [, url = ''] = /the API listens at (http:[^"]+)/.exec(output()) ?? []
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
      expect(httpGet.port).toBe('http')
    }
    const statusAt = async (path: string): Promise<unknown> =>
      ((await (await fetch(url + path)).json()) as { readonly status: unknown }).status
    expect(await statusAt(startupProbe.httpGet.path)).toBe('live')
    expect(await statusAt(livenessProbe.httpGet.path)).toBe('live')
    expect(await statusAt(readinessProbe.httpGet.path)).toBe('ready')
  })

  it('get the time in which the service promises to stop, and 7 s to spare', async () => {
    for (const preStopSeconds of [5, 20]) {
      const { values } = CLUSTERED
      const resources = await render({ ...CLUSTERED, values: { ...values, preStopSeconds } })
      const { containers, terminationGracePeriodSeconds } = podOf(resources)
      expect(containers[0].lifecycle).toEqual({ preStop: { sleep: { seconds: preStopSeconds } } })
      expect(terminationGracePeriodSeconds).toBe(preStopSeconds + STOP_MS / 1000 + 7)
    }
  })

  it('are replaced one by one with PostgreSQL and S3, and never run side by side without', async () => {
    const strategies = await Promise.all(
      [CLUSTERED, { examples: ['minio'] }, { examples: ['rds'] }, {}].map(
        async (release) => deploymentOf(only('Deployment', await render(release))).strategy,
      ),
    )
    const recreate = { type: 'Recreate' }
    const rolling = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } }
    expect(strategies).toEqual([rolling, recreate, recreate, recreate])
  })
})

describe.skipIf(skipped)('the migration of the chart', () => {
  it('runs a command of the service before an upgrade, with the same settings', async () => {
    const resources = await render(CLUSTERED)
    const job = only('Job', resources)
    expect(job.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'pre-upgrade' })
    const [migrating] = workloadOf(job).template.spec.containers
    const [serving] = podOf(resources).containers
    expect([migrating.env, migrating.image]).toEqual([serving.env, serving.image])
    const config = readConfig({ DATA_DIR: await temporaryFolder(opened) })
    const migrated = await runCommand(migrating.args ?? [], () => openService(config))
    expect(migrated).toMatchObject({ code: 0 })
  })
})

function podOf(resources: readonly Resource[]) {
  return workloadOf(only('Deployment', resources)).template.spec
}
