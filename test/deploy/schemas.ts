import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import type { Resource } from './chart.ts'

/** The schemas that one cluster validates resources with. They refuse unknown members. */
export interface Cluster {
  readonly version: string
  /** What is wrong with a resource; `undefined` for a sound one. Throws for a kind without a schema. */
  validate(resource: Resource): string | undefined
}

/** The first version that the chart supports. */
const FIRST_MINOR = 31

/** A cluster of every version of Kubernetes from the first that the chart supports, with the operators that it knows. */
export async function openClusters(): Promise<readonly Cluster[]> {
  const [folder, ...modules] = await Promise.all([
    schemaFolder(),
    ...OPERATORS.map(({ module }) => moduleFolder(module)),
  ])
  const custom = new Map<string, object>()
  for (const [at, { file }] of OPERATORS.entries()) {
    for (const [type, schema] of customSchemas(join(modules[at] ?? '', file)))
      custom.set(type, schema)
  }
  return readdirSync(folder)
    .map((name) => ({ name, minor: Number(/^v1\.(\d+)\.0-local-strict$/.exec(name)?.[1]) }))
    .filter(({ minor }) => minor >= FIRST_MINOR)
    .toSorted((one, other) => one.minor - other.minor)
    .map(({ name, minor }) => createCluster(`1.${minor}`, { folder: join(folder, name), custom }))
}

/** The modules that hold definitions of custom resources, and where. */
const OPERATORS = [
  {
    module: 'sigs.k8s.io/gateway-api@v1.4.1',
    file: 'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml',
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    file: 'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml',
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    file: 'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
  },
  {
    module: 'github.com/external-secrets/external-secrets@v0.20.4',
    file: 'config/crds/bases/external-secrets.io_externalsecrets.yaml',
  },
] as const

function createCluster(
  version: string,
  { folder, custom }: { readonly folder: string; readonly custom: ReadonlyMap<string, object> },
): Cluster {
  const ajv = new Ajv2020({
    strict: false,
    validateFormats: false,
    validateSchema: false,
    inlineRefs: false,
    code: { optimize: false },
  })
  ajv.addSchema(readJson(join(folder, '_definitions.json')), '/api/_definitions.json')
  const compiled = new Map<string, ValidateFunction>()
  const compile = (apiVersion: string, kind: string): ValidateFunction => {
    const type = `${apiVersion} ${kind}`
    const validate =
      compiled.get(type) ?? ajv.compile(custom.get(type) ?? readJson(schemaFile(folder, type)))
    compiled.set(type, validate)
    return validate
  }
  return {
    version,
    validate: (resource) => {
      const validate = compile(resource.apiVersion, resource.kind)
      return validate(resource) ? undefined : ajv.errorsText(validate.errors)
    },
  }
}

/** `apps/v1 Deployment` is `deployment-apps-v1.json`; the group has only its first word. */
function schemaFile(folder: string, type: string): string {
  const [, group = '', version = '', kind = ''] = /^(?:(\w+)[\w.]*\/)?(\w+) (\w+)$/.exec(type) ?? []
  return join(folder, [kind.toLowerCase(), group, `${version}.json`].filter(Boolean).join('-'))
}

interface CustomResourceDefinition {
  readonly spec: {
    readonly group: string
    readonly names: { readonly kind: string }
    readonly versions: readonly {
      readonly name: string
      readonly schema: { readonly openAPIV3Schema: object }
    }[]
  }
}

/** The schemas of a definition, by `group/version Kind`. */
function customSchemas(file: string): readonly (readonly [string, object])[] {
  const { spec } = parse(readFileSync(file, 'utf8')) as CustomResourceDefinition
  return spec.versions.map(({ name, schema }) => [
    `${spec.group}/${name} ${spec.names.kind}`,
    closed(schema.openAPIV3Schema) as object,
  ])
}

/** Kubernetes drops members that a definition does not have; a chart should render none. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.entries(schema)
    // The syntax of Go, which JavaScript does not know.
    .filter(([name, value]) => name !== 'pattern' || !String(value).includes('(?'))
    .map(([name, value]): [string, unknown] => [name, closed(value)])
  const isOpen =
    !('properties' in schema) ||
    'additionalProperties' in schema ||
    'x-kubernetes-preserve-unknown-fields' in schema ||
    Object.keys(schema.properties ?? {}).includes('metadata')
  return Object.fromEntries([...members, ...(isOpen ? [] : [['additionalProperties', false]])])
}

/** Where the Python package `kubernetes-validate` has its schemas. */
async function schemaFolder(): Promise<string> {
  const find =
    "from importlib.util import find_spec; print(find_spec('kubernetes_validate').origin)"
  try {
    const { stdout } = await promisify(execFile)('python3', ['-c', find])
    return join(dirname(stdout.trim()), 'kubernetes-json-schema')
  } catch (cause) {
    throw new Error('the Python package kubernetes-validate is not installed', { cause })
  }
}

/** Where Go keeps a module, which it downloads once. */
async function moduleFolder(module: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', module], {
      cwd: tmpdir(),
    })
    return (JSON.parse(stdout) as { readonly Dir: string }).Dir
  } catch (cause) {
    throw new Error(`go mod download ${module} fails`, { cause })
  }
}

function readJson(file: string): object {
  return JSON.parse(readFileSync(file, 'utf8')) as object
}
