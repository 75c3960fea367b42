import { isDeepStrictEqual } from 'node:util'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { ErrorCode } from '../../src/core/error-codes.ts'
import { BINARY, type Json } from '../../src/http/openapi/operation.ts'
import { closed, closedInside } from './closed-schema.ts'
import { BY_HEAD } from './generator/operation-object.ts'

/** An answer of the service, and what it answers. */
export interface Exchange {
  readonly method: string
  /** As it stands in the request. */
  readonly target: string
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Empty when it is the content of a file. */
  readonly body: Buffer
}

/** A target in absolute form begins with it (RFC 9112 section 3.2.2). */
const ORIGIN = /^https?:\/\/[^/]*/i

/** Says what of an answer is not in the OpenAPI document, or `undefined`. */
export type AnswerCheck = (exchange: Exchange) => string | undefined

/** Routes that documents leave out on purpose: what Prometheus reads. */
const HIDDEN = new Set(['/metrics'])

/** So is the page with what it loads, which is for people. Its refusals are as all others. */
const PAGE = /^\/(assets\/[^/]+)?$/

/** What hooks refuse before there is a route, beside the causes of having none. */
const ANYWHERE = [
  'format_error',
  'invalid_parameter',
  'cross_site_request',
  'access_token_invalid',
  'user_suspended',
  'unauthorized',
  'too_many_requests',
  'request_head_too_large',
  'request_timeout',
  'internal_error',
  'unavailable',
] as const satisfies readonly ErrorCode[]

/** No document has paths that are none of ours. A bad name can stand in one. */
const NO_PATH = [...ANYWHERE, 'not_found', 'invalid_file_name', 'access_token_missing'] as const

/** Nor methods that a path does not have. Those that OpenAPI cannot name either are not routed. */
const NO_METHOD = [...ANYWHERE, 'method_not_allowed', 'invalid_file_name'] as const

const NAMED = new Set(['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE'])

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: Readonly<Record<string, Json>>
}

interface OperationObject {
  readonly description?: string
  readonly responses: Readonly<Record<string, ResponseObject | Reference>>
}

interface ResponseObject {
  readonly headers?: Readonly<Record<string, HeaderObject | Reference>>
  readonly content?: Readonly<Record<string, { readonly schema?: object }>>
}

interface HeaderObject {
  readonly required?: boolean
  readonly schema: Json
}

interface Reference {
  readonly $ref: string
}

/** Makes the check of the answers of a listener by its document. */
export function createAnswerCheck(document: OpenApi, basePath: string): AnswerCheck {
  const validators = new Validators(document)
  const templates = Object.keys(document.paths).sort(concreteFirst)

  function faultOf(exchange: Exchange): string | undefined {
    const { method, target, status, headers } = exchange
    const [path = ''] = target.replace(ORIGIN, '').split('?')
    const own = path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined
    if (own !== undefined && HIDDEN.has(own)) return undefined
    if (path === basePath || (own !== undefined && PAGE.test(own))) {
      return status < 400 ? undefined : refusalFault(exchange, [...NO_PATH, ...NO_METHOD])
    }
    const [first, ...more] =
      own === undefined ? [] : templates.filter((known) => matches(known, own))
    if (first === undefined) return refusalFault(exchange, NO_PATH)
    const of = method.toLowerCase()
    const operationOf = (known: string) => operationFor(of, document.paths[known])
    const template = [first, ...more].find(operationOf) ?? first
    const operation = operationOf(template)
    // CORS preflights are between browsers and the service.
    if (method === 'OPTIONS' && headers['access-control-allow-methods'] !== undefined) {
      return undefined
    }
    if (operation === undefined) {
      if (method === 'OPTIONS' && status === 204) return undefined
      if (status === 405 && headers['allow'] === undefined) return 'has no Allow'
      return refusalFault(exchange, NAMED.has(method) ? NO_METHOD : [...NO_METHOD, 'not_found'])
    }
    const described = operation.responses[String(status)]
    if (described === undefined) return `${template} has no status ${status}`
    const response = validators.resolve<ResponseObject>(described)
    return headerFault(response, exchange) ?? contentFault(response, exchange)
  }

  function refusalFault(exchange: Exchange, codes: readonly ErrorCode[]): string | undefined {
    if (exchange.method === 'HEAD') return exchange.status >= 400 ? undefined : 'is no refusal'
    const properties = { code: { enum: codes }, status: { const: exchange.status } }
    const schema = { $ref: '#/components/schemas/Problem', properties }
    return jsonFault(exchange.body, schema)
  }

  function headerFault({ headers = {} }: ResponseObject, exchange: Exchange): string | undefined {
    for (const [name, reference] of Object.entries(headers)) {
      const { required = false, schema } = validators.resolve<HeaderObject>(reference)
      const text = exchange.headers[name.toLowerCase()]
      if (text === undefined && required) return `has no ${name}`
      const value = schema['type'] === 'integer' ? Number(text) : text
      if (text !== undefined && !validators.of(schema)(value)) return `has a bad ${name}: ${text}`
    }
    return undefined
  }

  function contentFault({ content }: ResponseObject, exchange: Exchange): string | undefined {
    const { method, status, headers, body } = exchange
    if (method === 'HEAD' || status === 304) return undefined
    if (content === undefined) return body.length === 0 ? undefined : 'has a body'
    const type = headers['content-type']?.split(';')[0] ?? 'no content type'
    const media = content[type]
    if (media === undefined) return `has ${type}`
    if (type === 'text/event-stream') return eventsFault(body)
    const { schema } = media
    return schema === undefined || isDeepStrictEqual(schema, BINARY.schema)
      ? undefined
      : jsonFault(body, schema)
  }

  /** OpenAPI has no schema for events. They are changes. */
  function eventsFault(body: Buffer): string | undefined {
    const schema = { $ref: '#/components/schemas/RepositoryChange' }
    const events = body.toString().matchAll(/^data: (.*)$/gm)
    for (const [, data = ''] of events) {
      const fault = jsonFault(Buffer.from(data), schema)
      if (fault !== undefined) return fault
    }
    return undefined
  }

  function jsonFault(body: Buffer, schema: object): string | undefined {
    const validate = validators.of(schema)
    if (validate(JSON.parse(body.toString()) as unknown)) return undefined
    return `has a body ${body.toString()} with ${validators.explain(validate)}`
  }

  return (exchange) => {
    const fault = faultOf(exchange)
    const { method, target, status } = exchange
    return fault === undefined
      ? undefined
      : `${method} ${target} answered ${status}, which ${fault}`
  }
}

/** `HEAD` is described with its `GET`, unless it has an operation of its own. */
function operationFor(
  method: string,
  item: Readonly<Record<string, OperationObject>> = {},
): OperationObject | undefined {
  const { [method]: own, get } = item
  return own ?? (method === 'head' && get?.description?.endsWith(BY_HEAD) ? get : undefined)
}

/** The schemas of a document, made to say no to what they don't name. Each is compiled once, when it is first needed. */
class Validators {
  readonly #document: OpenApi
  // Other tests validate the documents themselves.
  readonly #ajv = addFormats.default(new Ajv2020({ strict: false, validateSchema: false }))
  readonly #compiled = new Map<string, ValidateFunction>()

  constructor(document: OpenApi) {
    this.#document = document
    for (const [name, schema] of Object.entries(document.components['schemas'] ?? {})) {
      this.#ajv.addSchema(byName(closedInside(schema)), `${NAMED_SCHEMA}${name}`)
    }
  }

  of(schema: object): ValidateFunction {
    const text = JSON.stringify(schema)
    const compiled = this.#compiled.get(text) ?? this.#ajv.compile(byName(closed(schema)))
    this.#compiled.set(text, compiled)
    return compiled
  }

  explain({ errors }: ValidateFunction): string {
    return this.#ajv.errorsText(errors)
  }

  resolve<T extends object>(part: T | Reference): T {
    if (!('$ref' in part)) return part
    const [, , kind = '', name = ''] = part.$ref.split('/')
    return this.#document.components[kind]?.[name] as T
  }
}

const NAMED_SCHEMA = 'schema:'

/** The same schema, whose references name schemas that are compiled apart. */
function byName(schema: unknown): object {
  const text = JSON.stringify(schema).replaceAll('"#/components/schemas/', `"${NAMED_SCHEMA}`)
  return JSON.parse(text) as object
}

function matches(template: string, path: string): boolean {
  const expected = template.split('/')
  const segments = path.split('/').map(decoded)
  const isLonger = expected.at(-1) === '{file_name}' && segments.length > expected.length
  if (template === LINK_UPLOAD && !UPLOAD_ID.test(segments.at(-1) ?? '')) return false
  return (
    (isLonger || expected.length === segments.length) &&
    expected.every((text, at) =>
      text.startsWith('{') ? isLonger || segments[at] !== '' : text === segments[at],
    )
  )
}

/** Anything else below `uploads/` is a file of the link. */
const LINK_UPLOAD = '/links/{secret}/uploads/{upload_id}'
const UPLOAD_ID = /^[0-9a-f-]{36}$/

/** What cannot be decoded is refused under the path that it would be. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function concreteFirst(a: string, b: string): number {
  return a.split('{').length - b.split('{').length
}
