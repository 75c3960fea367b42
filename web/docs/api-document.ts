/** Part of a document as JSON. */
export type Json = Readonly<Record<string, unknown>>

/** The parts of the service's OpenAPI documents that the page uses. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly description: string; readonly version: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses: Readonly<Record<string, ResponseObject>>
    readonly headers: Readonly<Record<string, HeaderObject>>
    readonly examples: Readonly<Record<string, ProblemExample>>
    readonly securitySchemes: Readonly<Record<string, SecurityScheme>>
  }
}

interface SecurityScheme {
  readonly description: string
  /** Of the type `http`, such as `bearer`. */
  readonly scheme?: string
}

export interface OperationObject {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly security: readonly Json[]
  readonly parameters?: readonly ParameterObject[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, ResponseObject | Reference>>
}

export interface ParameterObject {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description: string
  readonly schema: Schema
  readonly example?: Scalar | readonly Scalar[]
}

export interface ResponseObject {
  readonly description: string
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Content
}

export type Content = Readonly<
  Record<string, { readonly schema?: Schema | Reference; readonly example?: unknown }>
>

interface HeaderObject {
  readonly description: string
  readonly schema: Schema
}

interface ProblemExample {
  readonly summary: string
  readonly value: Json & { readonly status: number; readonly detail: string }
}

export interface Reference {
  readonly $ref: string
}

type Scalar = string | number | boolean | null

export interface Schema {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly description?: string
  readonly enum?: readonly Scalar[]
  readonly const?: Scalar
  readonly default?: Scalar
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema | Reference>>
  readonly items?: Schema | Reference
  readonly allOf?: readonly (Schema | Reference)[]
  readonly anyOf?: readonly (Schema | Reference)[]
  readonly oneOf?: readonly (Schema | Reference)[]
}

/** Resolves a reference to a response. */
export function responseOf(
  { components }: ApiDocument,
  response: ResponseObject | Reference,
): ResponseObject {
  if (!('$ref' in response)) return response
  const found = components.responses[nameOf(response)]
  if (found === undefined) throw new Error(`no response ${response.$ref}`)
  return found
}

/** The last segment of a reference. */
export function nameOf({ $ref }: Reference): string {
  return $ref.slice($ref.lastIndexOf('/') + 1)
}
