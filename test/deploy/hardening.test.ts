import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { isDefaultCredential } from '../../src/config/default-credentials.ts'
import { findProgram } from '../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'
import { CHART, type Resource } from './chart.ts'
import { renderVariants } from './variants.ts'
import { isWorkload, plainVariables, workloadOf, type PodSpec } from './workload.ts'

const skipped = isSkipped(await whyMissing(findProgram('helm')))

interface Selecting {
  readonly selector?: Labels & { readonly matchLabels?: Labels }
  readonly podSelector?: { readonly matchLabels: Labels }
  readonly ports?: readonly { readonly targetPort: string }[]
}

type Labels = Readonly<Record<string, string>>

describe.skipIf(skipped)('every pod of the chart', () => {
  let variants: ReadonlyMap<string, readonly Resource[]>
  let all: readonly Resource[]
  let pods: readonly PodSpec[]

  beforeAll(async () => {
    variants = await renderVariants()
    all = [...variants.values()].flat()
    pods = all.filter(isWorkload).map((resource) => workloadOf(resource).template.spec)
  })

  it('has no privilege, no writable root file system, and no token for the API of Kubernetes', () => {
    expect(pods.length).toBeGreaterThan(20)
    for (const pod of pods) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 1000,
          seccompProfile: { type: 'RuntimeDefault' },
        },
      })
      expect(pod.containers).toHaveLength(1)
      expect(pod.containers[0]).toMatchObject({
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
      })
    }
    const texts = all.map((resource) => JSON.stringify(resource))
    for (const never of NEVER) expect(texts.filter((text) => never.test(text))).toEqual([])
  })

  it('has limited memory, and no limited CPU, which would delay every answer', () => {
    for (const { containers } of pods) {
      expect(containers[0].resources).toMatchObject({
        requests: { cpu: '250m', memory: '512Mi' },
        limits: { memory: '1536Mi' },
      })
      expect(containers[0].resources.limits).not.toHaveProperty('cpu')
    }
  })

  it('gets no variables of other Services, which could be names of settings', () => {
    for (const pod of pods) expect(pod['enableServiceLinks']).toBe(false)
  })

  it('has an image of one version', () => {
    for (const { containers } of pods) expect(containers[0].image).toMatch(/:\d+\.\d+\.\d+$/)
  })

  it('gets secrets from Secrets alone, which the chart does not contain', () => {
    expect(all.filter(({ kind }) => kind === 'Secret' || kind === 'ConfigMap')).toEqual([])
    for (const { containers } of pods) {
      for (const [name, value] of Object.entries(plainVariables(containers[0]))) {
        const isMounted = name.endsWith('_FILE') && value.startsWith('/run/secrets/')
        expect({ name, isOpen: SECRET.test(name) && !isMounted }).toEqual({ name, isOpen: false })
        // A password in a URL.
        expect(value).not.toMatch(/:[^/@]+@/)
        expect(isDefaultCredential(value, value)).toBe(false)
      }
    }
  })

  it('mounts secrets and volumes that only its user and group can read', () => {
    const projected = pods.flatMap(({ volumes }) =>
      volumes.flatMap((volume) => volume.projected ?? []),
    )
    expect(projected.length).toBeGreaterThan(10)
    for (const { defaultMode } of projected) expect(defaultMode).toBe(0o440)
    for (const { volumes, containers } of pods) {
      const mounted = containers[0].volumeMounts.map(({ name }) => name)
      expect(volumes.map(({ name }) => name).toSorted()).toEqual(mounted.toSorted())
    }
  })

  it('is selected by its Services and budgets if it serves, and not if it migrates', () => {
    for (const [name, resources] of variants) {
      const [serving, migrating] = ['Deployment', 'Job'].map((kind) => {
        const found = resources.find((resource) => resource.kind === kind)
        return found && workloadOf(found).template
      })
      for (const { kind, spec, metadata } of resources) {
        const { selector, podSelector, ports = [] } = (spec ?? {}) as Selecting
        const labels = podSelector?.matchLabels ?? selector?.matchLabels ?? selector
        if (labels === undefined || kind === 'ServiceMonitor') continue
        const selects = (template: typeof serving): boolean =>
          Object.entries(labels).every(([key, value]) => template?.metadata.labels[key] === value)
        const isAny = kind === 'NetworkPolicy'
        expect({ name, kind, serving: selects(serving) }).toEqual({ name, kind, serving: true })
        expect(selects(migrating)).toBe(isAny && migrating !== undefined)
        const listening = serving?.spec.containers[0].ports?.map((port) => port.name)
        if (kind !== 'Service') continue
        for (const { targetPort } of ports) expect(listening).toContain(targetPort)
        expect(metadata.name.length).toBeLessThanOrEqual(63)
      }
    }
  })
})

describe('the values and examples of the chart', () => {
  it('contain no secret', async () => {
    const examples = await readdir(join(CHART, 'examples'))
    const files = ['values.yaml', ...examples.map((name) => join('examples', name))]
    expect(files.length).toBeGreaterThan(5)
    for (const file of files) {
      const text = await readFile(join(CHART, file), 'utf8')
      expect(text).not.toMatch(/(?:password|secret_?key|token|passphrase)\s*:\s*['"]?[\w-]/i)
      expect(text).not.toMatch(/:\/\/[^/\s]*:[^/@\s]+@/)
    }
  })
})

const NEVER = [
  /"privileged":true/,
  /"hostPath"/,
  /"host(?:Network|PID|IPC)":true/,
  /"hostPort"/,
  /"(?:add|procMount|shareProcessNamespace)":/,
  /:latest"/,
  /"runAsUser":0\b/,
]

const SECRET = /TOKEN|PASSWORD|SECRET|HEADERS|ACCESS_KEY/
