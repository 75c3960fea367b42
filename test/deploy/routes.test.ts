import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createInstruments } from '../../src/metrics/instruments.ts'
import { allOf } from '../documents/pages.ts'
import { findProgram } from '../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'
import { temporaryFolder } from '../support/service/program.ts'
import { CHART, helm, only, render } from './chart.ts'

const skipped = isSkipped(await whyMissing(findProgram('helm')))

let opened = new AsyncDisposableStack()

afterEach(async () => {
  await opened.disposeAsync()
  opened = new AsyncDisposableStack()
})

describe.skipIf(skipped)('the Ingress', () => {
  it('has the settings of deploy/nginx.conf', async () => {
    const ingress = { enabled: true, hosts: ['files.example.com'] }
    const { metadata } = only('Ingress', await render({ values: { ingress } }))
    const nginx = await readFile('deploy/nginx.conf', 'utf8')
    const annotations = Object.entries(metadata.annotations ?? {})
    expect(annotations.length).toBeGreaterThan(5)
    for (const [annotation, value] of annotations) {
      const [, name = ''] = /^nginx\.ingress\.kubernetes\.io\/(.*)$/.exec(annotation) ?? []
      const directive = DIRECTIVES[name] ?? name.replaceAll('-', '_')
      const [set] = allOf(new RegExp(`^ *${directive} (.*);$`, 'gm'), nginx)
      // The controller appends the unit.
      expect([name, value]).toEqual([name, set?.replace(/^(\d+)s$/, '$1')])
    }
  })

  it.each(['', '/api'])('forwards the paths below "%s" alone', async (basePath) => {
    const ingress = { enabled: true, hosts: ['a.example.com', 'b.example.com'] }
    const httpRoute = { enabled: true, parentRefs: [{ name: 'public' }] }
    const resources = await render({ values: { basePath, ingress, httpRoute } })
    const path = basePath || '/'
    const rule = { http: { paths: [{ path, pathType: 'Prefix' }] } }
    expect(only('Ingress', resources).spec).toMatchObject({ rules: [rule, rule] })
    expect(only('HTTPRoute', resources).spec).toMatchObject({
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: path } }],
          timeouts: { request: '0s', backendRequest: '0s' },
        },
      ],
    })
  })
})

/** Annotations with another name than their directive. */
const DIRECTIVES: Readonly<Record<string, string>> = {
  'proxy-body-size': 'client_max_body_size',
}

describe.skipIf(skipped)('the network policy', () => {
  it('lets everyone to the public listener, the cluster to the metrics, and nobody to the rest', async () => {
    const values = {
      adminApi: { enabled: true },
      secrets: { ADMIN_TOKEN: { name: 'a', key: 'b' } },
    }
    const { spec } = only('NetworkPolicy', await render({ values }))
    expect(spec).toMatchObject({
      policyTypes: ['Ingress'],
      ingress: [
        { from: [{ namespaceSelector: {} }], ports: [{ port: 'metrics' }] },
        { from: [{ ipBlock: {} }, { ipBlock: {} }, {}], ports: [{ port: 'http' }] },
      ],
    })
  })

  it('merges the destinations of several files of values, and adds DNS', async () => {
    const { spec } = only('NetworkPolicy', await render({ examples: ['rds', 'minio'] }))
    const { egress } = spec as {
      readonly egress: readonly { readonly ports: readonly unknown[] }[]
    }
    expect(egress.map(({ ports }) => ports)).toEqual([
      [
        { port: 53, protocol: 'UDP' },
        { port: 53, protocol: 'TCP' },
      ],
      [{ port: 5432 }],
      [{ port: 9000 }],
    ])
  })
})

describe.skipIf(skipped)('monitoring', () => {
  const metrics = { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } }

  it('has the alerts of deploy/monitoring, also in a package', async () => {
    const alerts = await readFile('deploy/monitoring/alerts.yml', 'utf8')
    const { spec } = only('PrometheusRule', await render({ values: { metrics } }))
    expect(spec).toEqual(parse(alerts))
    const folder = await temporaryFolder(opened)
    const printed = await helm(['package', CHART, '--destination', folder])
    const [, archive = ''] = /: (\/.*\.tgz)/.exec(printed) ?? []
    const packed = 'cloud-repository/files/alerts.yml'
    const { stdout } = await promisify(execFile)('tar', ['-xzOf', archive, packed])
    expect(stdout).toBe(alerts)
  })

  it('scrapes the metrics, as the job that the alerts name', async () => {
    const resources = await render({ values: { metrics } })
    const { spec } = only('ServiceMonitor', resources)
    const alerts = await readFile('deploy/monitoring/alerts.yml', 'utf8')
    const jobs = new Set(allOf(/job="([^"]+)"/g, alerts))
    expect(spec).toMatchObject({
      endpoints: [
        { port: 'metrics', relabelings: [{ targetLabel: 'job', replacement: [...jobs][0] }] },
      ],
    })
    expect(jobs.size).toBe(1)
    const { selector } = spec as { readonly selector: { readonly matchLabels: object } }
    const services = resources.filter(({ kind }) => kind === 'Service')
    const selected = services.filter(({ metadata: { labels = {} } }) =>
      Object.entries(selector.matchLabels).every(([name, value]) => labels[name] === value),
    )
    expect(selected).toMatchObject([{ spec: { ports: [{ name: 'metrics' }] } }])
  })

  it('has the metric by which the autoscaler counts uploads', async () => {
    const autoscaling = { enabled: true, uploadsRunning: 20 }
    const release = { examples: ['rds', 's3'], values: { autoscaling } }
    const { spec } = only('HorizontalPodAutoscaler', await render(release))
    const { registry } = createInstruments({ hasPool: true, hasPack: false })
    const [, pods] = (spec as { readonly metrics: readonly Scaling[] }).metrics
    expect(pods?.pods?.target).toEqual({ type: 'AverageValue', averageValue: '20' })
    expect(await registry.metrics()).toContain(`# TYPE ${pods?.pods?.metric.name} gauge`)
  })
})

interface Scaling {
  readonly pods?: { readonly metric: { readonly name: string }; readonly target: object }
}
