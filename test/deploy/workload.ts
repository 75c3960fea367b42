import type { Resource } from './chart.ts'

/** What a Deployment and a Job have in common. */
export interface Workload {
  readonly template: {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> }
    readonly spec: PodSpec
  }
}

export interface DeploymentSpec extends Workload {
  readonly replicas?: number
  readonly progressDeadlineSeconds: number
  readonly minReadySeconds: number
  readonly strategy: {
    readonly type: string
    readonly rollingUpdate?: { readonly maxUnavailable: number; readonly maxSurge: number }
  }
}

export interface PodSpec {
  readonly terminationGracePeriodSeconds?: number
  readonly volumes: readonly Volume[]
  readonly containers: readonly [Container]
  readonly [member: string]: unknown
}

export interface Volume {
  readonly name: string
  readonly projected?: { readonly defaultMode: number; readonly sources: readonly SecretItems[] }
  readonly configMap?: { readonly name: string; readonly items: Items }
  readonly [source: string]: unknown
}

interface SecretItems {
  readonly secret: { readonly name: string; readonly items: Items }
}

type Items = readonly { readonly key: string; readonly path: string }[]

export interface Container {
  readonly image: string
  readonly args?: readonly string[]
  readonly env: readonly EnvVar[]
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[]
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  readonly startupProbe: Probe
  readonly livenessProbe: Probe
  readonly readinessProbe: Probe
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } }
  readonly resources: { readonly limits: Readonly<Record<string, string>> }
  readonly [member: string]: unknown
}

export interface EnvVar {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } }
}

export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
  readonly periodSeconds: number
  readonly timeoutSeconds: number
  readonly failureThreshold: number
}

export function workloadOf(resource: Resource): Workload {
  return resource.spec as Workload
}

export function deploymentOf(resource: Resource): DeploymentSpec {
  return resource.spec as DeploymentSpec
}

export function isWorkload({ kind }: Resource): boolean {
  return kind === 'Deployment' || kind === 'Job'
}

/** The variables of a container that have a value of their own. */
export function plainVariables({ env }: Container): Readonly<Record<string, string>> {
  return Object.fromEntries(
    env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
  )
}
