import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { findProgram } from '../support/servers/local-server.ts'

export const CHART = 'deploy/helm/cloud-repository'

/** The release that tests install. */
export const RELEASE = 'files'

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json }

export type Values = { readonly [key: string]: Json }

/** An object for Kubernetes. */
export interface Resource {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec?: unknown
  readonly [key: string]: unknown
}

export interface Release {
  /** Files of the chart's `examples/`, by their names. */
  readonly examples?: readonly string[]
  readonly values?: Values
}

/** What `helm template` renders, with the hooks, as Kubernetes reads it. Rejects with what Helm prints if it refuses. */
export async function render(release: Release): Promise<readonly Resource[]> {
  const text = await helm(['template', RELEASE, CHART, ...flagsOf(release)], release.values)
  // Kubernetes reads YAML 1.1, in which a bare `off` is a boolean.
  return parseAllDocuments(text, { version: '1.1' })
    .map((document): unknown => {
      if (document.errors[0] !== undefined) throw document.errors[0]
      return document.toJS() as unknown
    })
    .filter((resource): resource is Resource => resource !== null)
}

export function flagsOf({ examples = [], values }: Release): readonly string[] {
  const files = examples.map((name) => `${CHART}/examples/${name}.yaml`)
  return [...files, ...(values === undefined ? [] : ['-'])].flatMap((file) => ['--values', file])
}

/** Runs Helm, which reads `values` where an argument is `-`, and resolves to its output. */
export async function helm(args: readonly string[], values: Values = {}): Promise<string> {
  const running = promisify(execFile)(await findProgram('helm'), args, { maxBuffer: 2 ** 26 })
  running.child.stdin?.end(JSON.stringify(values))
  return (await running).stdout
}

/** The only resource of a kind. */
export function only(kind: string, resources: readonly Resource[]): Resource {
  const [found, ...others] = resources.filter((resource) => resource.kind === kind)
  if (found === undefined || others.length > 0) throw new Error(`not one ${kind}`)
  return found
}
