import type { FastifySchema } from 'fastify'
import type { ErrorCode } from '../../core/errors.ts'
import type { HeaderName } from './headers.ts'
import type { Json } from './json.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the OpenAPI document says of the route; without it the route is left out. */
    operation?: Operation | readonly Operation[]
  }
}

/** What the OpenAPI document says of a route, beyond what the schemas say that Fastify applies to a request. */
export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tag: string
  /** In place of the route's own path, for one that stands for several, without the base path. */
  readonly path?: string
  /** Whose credentials the operation takes: needs them (when left out), does something with them, or never looks. */
  readonly credentials?: 'required' | 'optional' | 'none'
  /** What parsers judge, whose refusals have codes of their own: it stands here in place of the route's schemas. */
  readonly parameters?: {
    readonly path?: Schemas
    readonly query?: Schemas
    readonly header?: Schemas
  }
  /** Likewise; else the body is what the route's schema says, and may be left out if that has no required member. */
  readonly requestBody?: Json
  /** What is answered where nothing is wrong, by status. */
  readonly responses: Readonly<Record<number, string | Answer>>
  /** The codes of refusals beyond those that `problemsOf` derives. */
  readonly problems?: readonly ErrorCode[]
}

/** By name. The `description` and the example become those of the parameter. */
export type Schemas = Readonly<Record<string, Json>>

/** What an answer is; a text is the description. */
export interface Answer {
  readonly description: string
  readonly headers?: readonly HeaderName[]
  /** Members that the example has otherwise than the route's schema for this status says. */
  readonly example?: Json
  /** By media type, for what is not JSON. */
  readonly content?: Json
}

/** The options of a route that takes and answers what these schemas say, and of which the document says the rest. */
export function described<const S extends FastifySchema>(
  route: S & Operation,
): {
  readonly schema: Pick<S, keyof FastifySchema & keyof S>
  readonly config: { readonly operation: Operation }
} {
  const { params, querystring, body, response, ...operation }: FastifySchema & Operation = route
  const parts = Object.entries({ params, querystring, body, response })
  const schema = Object.fromEntries(parts.filter(([, part]) => part !== undefined))
  return { schema: schema as Pick<S, keyof FastifySchema & keyof S>, config: { operation } }
}
