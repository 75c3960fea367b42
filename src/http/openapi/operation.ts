import type { ErrorCode } from '../../core/errors.ts'
import type { HeaderName } from './headers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the OpenAPI document says of the route; without it the route is left out. */
    operation?: Operation | readonly Operation[]
  }
}

/** A schema, or any other part of a document, as JSON. */
export type Json = Readonly<Record<string, unknown>>

/**
 * What the OpenAPI document says of a route, beyond what its schemas say. Nothing of it is applied to a request: names,
 * conditions and bodies are judged by their parsers, whose refusals have codes of their own.
 */
export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tag: string
  /** In place of the route's own path, for one that stands for several, without the base path. */
  readonly path?: string
  /** Whose credentials the operation takes: needs them, does something with them, or never looks. */
  readonly credentials: 'required' | 'optional' | 'none'
  /** Every segment of the path that varies, every member of the query, and headers. */
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Json
  /** What is answered where nothing is wrong, by status. */
  readonly responses: Readonly<Record<number, Answer>>
  /** The codes of all refusals. */
  readonly problems: readonly ErrorCode[]
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description: string
  readonly schema: Json
  readonly example?: string | number
}

export interface Answer {
  readonly description: string
  readonly headers?: readonly HeaderName[]
  /** An example of the JSON that the route's schema for this status describes. */
  readonly example?: Json
  /** By media type, for what is not JSON. */
  readonly content?: Json
}
