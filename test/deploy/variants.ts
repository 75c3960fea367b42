import { render, type Release, type Resource, type Values } from './chart.ts'

const DATABASES = ['cloudnativepg', 'rds']
const STORES = ['minio', 's3', 'seaweedfs', 'versitygw']

/** Everything on: each resource that the chart can render, and each way to give a setting. */
export const EVERYTHING: Values = {
  replicaCount: 3,
  image: { repository: 'registry.example/cloud-repository', pullSecrets: [{ name: 'registry' }] },
  basePath: '/api',
  trustProxy: ['10.0.0.0/8', '::1'],
  adminApi: { enabled: true },
  config: {
    MAX_FILES: 1_073_741_824,
    WEB_PAGE: false,
    DEVICE_MODELS: '{"camera-2": "20GiB"}',
    WEBHOOK_URL: 'https://back-end.example/hooks',
    OTEL_TRACES_SAMPLER_ARG: 0.25,
  },
  externalSecrets: {
    store: { name: 'vault' },
    settings: {
      ADMIN_TOKEN: { key: 'cloud-repository', property: 'admin-token' },
      WEBHOOK_SECRET: { key: 'cloud-repository', property: 'webhook-secret' },
      OTEL_EXPORTER_OTLP_HEADERS: { key: 'collector' },
    },
  },
  pageLogo: { configMap: 'files-logo', key: 'files.svg' },
  extraEnv: [{ name: 'AWS_ROLE_SESSION_NAME', value: 'files' }],
  podAnnotations: { 'example.com/note': 'a note' },
  podLabels: { 'example.com/team': 'files' },
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: { podAntiAffinity: {} },
  priorityClassName: 'high',
  autoscaling: {
    enabled: true,
    uploadsRunning: 20,
    metrics: [
      {
        type: 'External',
        external: {
          metric: { name: 'queue_length' },
          target: { type: 'AverageValue', averageValue: '30' },
        },
      },
    ],
  },
  service: {
    type: 'LoadBalancer',
    annotations: { 'example.com/internal': 'true' },
    externalTrafficPolicy: 'Local',
  },
  ingress: {
    enabled: true,
    className: 'nginx',
    hosts: ['files.example.com'],
    tls: [{ secretName: 'files-tls', hosts: ['files.example.com'] }],
  },
  httpRoute: {
    enabled: true,
    annotations: { 'example.com/owner': 'files' },
    parentRefs: [{ name: 'public', namespace: 'gateways', sectionName: 'https' }],
    hostnames: ['files.example.com'],
  },
  networkPolicy: {
    from: { admin: [{ podSelector: { matchLabels: { app: 'back-end' } } }] },
  },
  serviceAccount: { annotations: { 'example.com/role': 'files' } },
  metrics: {
    serviceMonitor: { enabled: true, labels: { release: 'monitoring' } },
    prometheusRule: { enabled: true, labels: { release: 'monitoring' } },
  },
}

/** Releases that differ in what they render. */
export const VARIANTS: Readonly<Record<string, Release>> = {
  defaults: {},
  'an existing claim': { values: { persistence: { existingClaim: 'files' } } },
  'SQLite and S3': { examples: ['minio'] },
  'PostgreSQL and local files': {
    examples: ['cloudnativepg'],
    values: { persistence: { storageClass: 'fast' } },
  },
  ...Object.fromEntries(
    DATABASES.flatMap((database) =>
      STORES.map((store): [string, Release] => [
        `${database} and ${store}`,
        { examples: [database, store], values: { replicaCount: 3 } },
      ]),
    ),
  ),
  everything: { examples: ['rds', 'minio'], values: EVERYTHING },
  'as little as possible': {
    examples: ['rds', 's3'],
    values: {
      migration: { enabled: false },
      podDisruptionBudget: { enabled: false },
      topologySpread: { keys: [] },
      serviceAccount: { create: false },
      networkPolicy: { enabled: false },
      metrics: { enabled: false },
    },
  },
}

/** The resources of each variant by its name. */
export async function renderVariants(): Promise<ReadonlyMap<string, readonly Resource[]>> {
  const rendered = Object.entries(VARIANTS).map(
    async ([name, release]) => [name, await render(release)] as const,
  )
  return new Map(await Promise.all(rendered))
}
