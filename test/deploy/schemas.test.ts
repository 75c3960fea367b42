import { beforeAll, describe, expect, it } from 'vitest'
import { findProgram } from '../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'
import { CHART, flagsOf, helm, type Release, type Resource } from './chart.ts'
import { openClusters } from './schemas.ts'
import { renderVariants, VARIANTS } from './variants.ts'

const skipped = isSkipped(await whyMissing(Promise.all([findProgram('helm'), openClusters()])))
const clusters = skipped ? [] : await openClusters()

describe.skipIf(skipped)('what the chart renders', () => {
  let variants: ReadonlyMap<string, readonly Resource[]>

  beforeAll(async () => {
    variants = await renderVariants()
  })

  it('has every kind of resource somewhere, and each name once', () => {
    const all = [...variants.values()]
    const kinds = new Set(all.flatMap((resources) => resources.map(({ kind }) => kind)))
    expect([...kinds].toSorted()).toEqual(KINDS)
    for (const resources of all) {
      const names = resources.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
      expect(new Set(names).size).toBe(names.length)
    }
  })

  it.each(clusters)('is valid in Kubernetes $version', (cluster) => {
    const faults: string[] = []
    for (const [name, resources] of variants) {
      for (const resource of resources) {
        const fault = cluster.validate(resource)
        if (fault !== undefined) faults.push(`${name}: ${resource.kind} ${fault}`)
      }
    }
    expect(faults).toEqual([])
  })

  it('is compared with schemas that refuse unknown members and wrong types', () => {
    expect(clusters.map(({ version }) => version)).toEqual(
      expect.arrayContaining(['1.31', '1.32', '1.33', '1.34', '1.35']),
    )
    const everything = variants.get('everything') ?? []
    for (const cluster of clusters) {
      for (const resource of everything) {
        const { spec } = resource
        if (spec === undefined) continue
        expect(cluster.validate({ ...resource, spec: { ...spec, unknown: 1 } })).toMatch(
          /additional/,
        )
        expect(cluster.validate({ ...resource, spec: 'a text' })).toBeDefined()
      }
    }
  })
})

describe.skipIf(skipped)('helm lint --strict', () => {
  it('has no complaint about any variant', async () => {
    const lint = async (release: Release) =>
      helm(['lint', '--strict', CHART, ...flagsOf(release)], release.values)
    for (const printed of await Promise.all(Object.values(VARIANTS).map(lint))) {
      expect(printed).toContain('1 chart(s) linted, 0 chart(s) failed')
    }
  })
})

const KINDS = [
  'Deployment',
  'ExternalSecret',
  'HTTPRoute',
  'HorizontalPodAutoscaler',
  'Ingress',
  'Job',
  'NetworkPolicy',
  'PersistentVolumeClaim',
  'PodDisruptionBudget',
  'PrometheusRule',
  'Service',
  'ServiceAccount',
  'ServiceMonitor',
]
