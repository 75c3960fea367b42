import type { FastifyInstance, RouteOptions } from 'fastify'
import { Components } from './components.ts'
import { HEADERS } from './headers.ts'
import { type Json, sortMembers } from './json.ts'
import type { Operation } from './operation.ts'
import { operationObject } from './operation-object.ts'
import { type CommonProblems, problemExamples, problemsOf } from './problem-responses.ts'
import { PROBLEM_SCHEMA } from './problem-schema.ts'

export interface ApiDescription {
  readonly title: string
  readonly description: string
  /** Security schemes by name; a request needs one of them. */
  readonly credentials: Json
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly problems: CommonProblems
}

/**
 * Records the routes that `app` gets from now on. The returned function makes the OpenAPI 3.1 document of those with an
 * `operation`, and throws for a parameter without a description.
 */
export function describeRoutes(
  app: FastifyInstance,
  api: ApiDescription,
  basePath: string,
): () => Json {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => {
    if (route.config?.operation !== undefined) routes.push(route)
  })
  return () => documentOf(routes, api, basePath)
}

function documentOf(routes: readonly RouteOptions[], api: ApiDescription, basePath: string): Json {
  const { title, description, credentials, tags, problems } = api
  const schemes = Object.keys(credentials)
  const components = new Components()
  const paths: Record<string, Record<string, unknown>> = {}
  for (const { route, operation } of routes.flatMap(operationsOf)) {
    const path = operation.path ?? pathOf(route, basePath)
    const methods = [route.method].flat()
    const refusals = problemsOf({ methods, path, operation }, problems)
    const described = { route, operation, path, schemes, problems: refusals, components }
    const item = (paths[path] ??= {})
    for (const method of methods.map((method) => method.toLowerCase())) {
      item[method] = operationObject(described, method)
    }
  }
  const { schemas, responses } = components.toJson()
  return {
    openapi: '3.1.1',
    info: {
      title,
      description,
      version: VERSION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: basePath === '' ? '/' : basePath }],
    tags,
    paths: sortMembers(paths),
    components: {
      schemas: { ...schemas, Problem: PROBLEM_SCHEMA },
      responses,
      headers: HEADERS,
      examples: problemExamples(),
      securitySchemes: credentials,
    },
  }
}

/** Of the service: `scripts/versions.mjs`. */
const VERSION = '0.1.0'

function operationsOf(route: RouteOptions): { route: RouteOptions; operation: Operation }[] {
  return [route.config?.operation ?? []].flat().map((operation) => ({ route, operation }))
}

function pathOf({ url }: RouteOptions, basePath: string): string {
  return url.slice(basePath.length).replaceAll(/:(\w+)/g, '{$1}')
}
