import type { FastifyContextConfig, RouteOptions } from 'fastify'
import type { OperatorRole } from '../../../src/core/operators/operator.ts'
import type { Json, Operation } from '../../../src/http/openapi/operation.ts'
import { Components } from './components.ts'
import { HEADERS } from './headers.ts'
import { sortMembers } from './members.ts'
import { operationObject } from './operation-object.ts'
import { type CommonProblems, problemExamples, problemsOf } from './problem-responses.ts'
import { PROBLEM_SCHEMA } from './problem-schema.ts'
import { withWideIntegers } from './wide-integers.ts'

export interface ApiDescription {
  readonly title: string
  readonly description: string
  /** Of the service. */
  readonly version: string
  /** Security schemes by name; a request needs one of them. */
  readonly credentials: Json
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly problems: CommonProblems
  /** The least role of an operator that a route needs; `undefined` where roles play no part. */
  readonly roleOf?: (method: string, route: FastifyContextConfig) => OperatorRole
}

/**
 * The OpenAPI 3.1 document of the routes with an `operation`. Throws for a parameter without a description, and for an
 * unknown response header.
 */
export function documentOf(routes: readonly RouteOptions[], api: ApiDescription): Json {
  const { title, description, version, credentials, tags, problems, roleOf } = api
  const schemes = Object.keys(credentials)
  const components = new Components()
  const paths: Record<string, Record<string, unknown>> = {}
  const placed = routes.flatMap(operationsOf)
  for (const { route, operation, path } of placed) {
    const methods = [route.method].flat()
    const isOpen = operation.credentials === 'none'
    const role = isOpen ? undefined : roleOf?.(methods[0] ?? '', route.config ?? {})
    const refusals = problemsOf({ methods, path, operation, role }, problems)
    const [hasGet, hasHead] = ['GET', 'HEAD'].map((method) =>
      placed.some((each) => isSame(each, { operation, path }) && takes(each.route, method)),
    )
    const described = { route, operation, path, schemes, problems: refusals, role, components }
    const item = (paths[path] ??= {})
    for (const method of methods.map((method) => method.toLowerCase())) {
      // Described with its `GET`: generators would give a client two functions for one operation.
      if (method === 'head' && hasGet === true) continue
      const isReadByHead = method === 'get' && hasHead === true
      item[method] = operationObject({ ...described, isReadByHead }, method)
    }
  }
  const { schemas, responses } = components.toJson()
  return withWideIntegers({
    openapi: '3.1.1',
    info: {
      title,
      description,
      version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags,
    paths: sortMembers(paths),
    components: {
      schemas: { ...schemas, Problem: PROBLEM_SCHEMA },
      responses,
      headers: HEADERS,
      examples: problemExamples(),
      securitySchemes: credentials,
    },
  })
}

interface PlacedOperation {
  readonly route: RouteOptions
  readonly operation: Operation
  readonly path: string
}

function operationsOf(route: RouteOptions): readonly PlacedOperation[] {
  return [route.config?.operation ?? []]
    .flat()
    .map((operation) => ({ route, operation, path: operation.path ?? pathOf(route) }))
}

function isSame(
  one: Pick<PlacedOperation, 'operation' | 'path'>,
  other: Pick<PlacedOperation, 'operation' | 'path'>,
): boolean {
  return one.path === other.path && one.operation.operationId === other.operation.operationId
}

function takes({ method }: RouteOptions, wanted: string): boolean {
  return [method].flat().includes(wanted)
}

function pathOf({ url }: RouteOptions): string {
  return url.replace(/\*$/, '{file_name}').replaceAll(/:(\w+)(?:\([^)]*\))?/g, '{$1}')
}
