import type { FastifySchema } from 'fastify'
import type { ErrorCode } from '../../core/error-codes.ts'
import type { OperatorRole } from '../../core/operators/operator.ts'
import type { JsonBody } from '../body/json-body.ts'

export type Json = Readonly<Record<string, unknown>>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For the OpenAPI documents (`test/openapi/generator/`). Routes without one are left out. */
    operation?: Operation | readonly Operation[] | undefined
  }
}

export interface Operation extends Shared, Unshared {}

export interface Shared {
  readonly tag: string
  /** Whether credentials are required (default), used if sent, or ignored. */
  readonly credentials?: 'required' | 'optional' | 'none'
  /** Codes in addition to those that the generator derives (`problemsOf`). */
  readonly problems?: readonly ErrorCode[]
}

interface Unshared {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  /** Replaces the route's path, without the base path, where one route serves several. */
  readonly path?: string
  /** Replace the route's schemas where a parser with its own error codes validates. */
  readonly parameters?: {
    readonly path?: Schemas
    readonly query?: Schemas
    readonly header?: Schemas
  }
  /** Replaces the route's body schema, for the same reason. */
  readonly jsonBody?: Json
  /** For other media types than JSON. */
  readonly requestBody?: Json
  readonly responses: Readonly<Record<number, string | Answer>>
  readonly problems?: readonly ErrorCode[]
}

/** Keyed by name. `description`, `required: true` and the first example move to the parameter. */
export type Schemas = Readonly<Record<string, Json>>

export interface Answer {
  readonly description: string
  readonly headers?: readonly string[]
  /** Overrides members of the example from the route's schema. */
  readonly example?: Json
  /** By media type, if not JSON. */
  readonly content?: Json
}

/** Bytes of any kind. Without a schema, generated clients could neither send nor receive them. */
export const BINARY = { schema: { type: 'string', format: 'binary' } } as const

interface Described<S> {
  readonly schema: Pick<S, keyof FastifySchema & keyof S>
  readonly config: {
    readonly operation: Operation
    readonly json: JsonBody | undefined
    readonly role: OperatorRole | undefined
  }
}

interface Route extends FastifySchema {
  /** With a schema of its body, a route takes JSON, as this says. */
  readonly json?: JsonBody
  /** See `leastRole`. */
  readonly role?: OperatorRole
}

export function described<const S extends Route>(route: S & Operation): Described<S> {
  const { params, querystring, body, response, json, role, ...operation }: Route & Operation = route
  const parts = Object.entries({ params, querystring, body, response })
  const schema = Object.fromEntries(parts.filter(([, part]) => part !== undefined))
  const isOptional = !isBodyRequired(route.jsonBody ?? body)
  const config = { operation, role, json: body === undefined ? json : { isOptional, ...json } }
  return { schema: schema as Described<S>['schema'], config }
}

/** Whether a request needs a body, because `{}` would not meet this JSON schema. */
export function isBodyRequired(schema: unknown): boolean {
  return (
    typeof schema === 'object' && schema !== null && ('required' in schema || 'anyOf' in schema)
  )
}

/** `described` for operations that share some members; an operation's own members replace them. */
export function describing<const C extends Route & Shared>(shared: C) {
  return <const S extends Route & Unshared>(route: S): Described<Omit<C, keyof S> & S> =>
    described(Object.assign({}, shared, route))
}

/**
 * The schema of a body, with what it leaves to the parsers of some members: what they refuse has an error code of its own.
 */
export function withParsed(schema: { readonly properties: object }, parsed: Schemas): Json {
  const properties = Object.entries(schema.properties as Schemas).map(([name, member]) => [
    name,
    { ...parsed[name], ...member },
  ])
  return { ...schema, properties: Object.fromEntries(properties) }
}
