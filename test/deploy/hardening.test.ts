import { beforeAll, describe, expect, it } from 'vitest'
import { isDefaultCredential } from '../../src/config/default-credentials.ts'
import { findProgram } from '../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'
import { only, render, type Resource } from './chart.ts'
import { renderVariants } from './variants.ts'
import { isWorkload, plainVariables, workloadOf, type PodSpec } from './workload.ts'

const skipped = isSkipped(await whyMissing(findProgram('helm')))

describe.skipIf(skipped)('every pod of the chart', () => {
  let all: readonly Resource[]
  let pods: readonly PodSpec[]

  beforeAll(async () => {
    all = [...(await renderVariants()).values()].flat()
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

  it('gets no variables of other Services, which could be names of settings', () => {
    for (const pod of pods) expect(pod['enableServiceLinks']).toBe(false)
  })

  it('mounts secrets and volumes that only its user and group can read', () => {
    const projected = pods.flatMap(({ volumes }) =>
      volumes.flatMap((volume) => volume.projected ?? []),
    )
    expect(projected.length).toBeGreaterThan(10)
    for (const { defaultMode } of projected) expect(defaultMode).toBe(0o440)
  })
})

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
