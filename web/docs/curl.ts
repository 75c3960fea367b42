import type {
  ApiDocument,
  Content,
  OperationObject,
  ParameterObject,
  Schema,
} from './api-document.ts'

export interface Call {
  readonly method: string
  readonly path: string
  readonly operation: OperationObject
}

/**
 * A command for a POSIX shell that calls the operation of the service at `base`, with its required parameters and an
 * example body. Reads the token from `$TOKEN`, and contents of files from `README.md`.
 */
export function curlCommand(document: ApiDocument, call: Call, base: string): string {
  const body = bodyOf(call)
  const options = [
    ...(needsToken(document, call.operation) ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...headersOf(call).map((header) => `-H ${shellWord(header)}`),
    ...(body?.options ?? []),
    ...outputOf(call),
  ]
  const [first, ...others] = [...options, urlOf(call, base)]
  const words = [['curl', ...methodOf(call, body), first].join(' '), ...others]
  const line = words.join(' ')
  return line.length <= MAX_LINE ? line : words.join(' \\\n  ')
}

/** The widest that fits beside the contents. */
const MAX_LINE = 80

/** Quoted unless every shell takes it as it is. */
export function shellWord(text: string): string {
  return /^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** What the document cannot state: a header that another one may replace, and a body that later requests may send. */
const COMPLETED: Readonly<Record<string, Completion>> = {
  createUpload: { headers: ['Upload-Length'], isWithoutBody: true },
  createDropUpload: { headers: ['Upload-Length'], isWithoutBody: true },
  overrideUpload: { headers: ['Upload-Offset'] },
  overrideDropUpload: { headers: ['Upload-Offset'] },
}

interface Completion {
  readonly headers: readonly string[]
  readonly isWithoutBody?: boolean
}

interface Body {
  readonly options: readonly string[]
  /** The method of curl with these options. */
  readonly method: string
}

function bodyOf({ method, operation }: Call): Body | undefined {
  const { operationId, requestBody } = operation
  if (requestBody === undefined || COMPLETED[operationId]?.isWithoutBody === true) return undefined
  const { content, required = false } = requestBody
  const { schema } = content['multipart/form-data'] ?? {}
  if (schema !== undefined) return { method: 'post', options: formOptions(schema as Schema) }
  const json = content['application/json']
  if (json !== undefined) {
    const text = JSON.stringify(json.example ?? {})
    if (!required && text === '{}') return undefined
    return { method: 'post', options: [...typeOption('application/json'), `-d ${shellWord(text)}`] }
  }
  const [type = ''] = Object.keys(content)
  if (method === 'put') return { method: 'put', options: [`-T ${FILE}`] }
  return { method: 'post', options: [...typeOption(type), `--data-binary @${FILE}`] }
}

const FILE = 'README.md'

function formOptions({ required = [], properties = {} }: Schema): readonly string[] {
  return required.map((name) => {
    const property = (properties[name] ?? {}) as Schema
    const value = property.format === 'binary' ? `@${FILE}` : valueOf({ name, schema: property })
    return `-F ${shellWord(`${name}=${value}`)}`
  })
}

function typeOption(type: string): readonly string[] {
  return [`-H ${shellWord(`Content-Type: ${type}`)}`]
}

function methodOf({ method, operation }: Call, body: Body | undefined): readonly string[] {
  if (method === 'head') return ['--head']
  const implied = body?.method ?? 'get'
  const option = method === implied ? [] : [`-X ${method.toUpperCase()}`]
  // The answer is in its headers.
  return hasContent(operation) ? option : ['-i', ...option]
}

function hasContent(operation: OperationObject): boolean {
  return successesOf(operation).some((content) => Object.keys(content).length > 0)
}

function outputOf({ method, path, operation }: Call): readonly string[] {
  const types = new Set(successesOf(operation).flatMap(Object.keys))
  // Without its parameters, the operation answers with JSON.
  if (method === 'head' || types.has('application/json')) return []
  if (types.has('application/zip')) return ['-o archive.zip']
  if (!types.has('application/octet-stream')) return []
  return [`-o ${path.endsWith('{file_name}') ? FILE : 'content'}`]
}

function successesOf({ responses }: OperationObject): readonly Content[] {
  return Object.entries(responses).flatMap(([status, response]) =>
    Number(status) < 300 && 'description' in response ? [response.content ?? {}] : [],
  )
}

function needsToken({ components }: ApiDocument, { security }: OperationObject): boolean {
  const schemes = security.flatMap((way) => Object.keys(way))
  return schemes.some((name) => components.securitySchemes[name]?.scheme === 'bearer')
}

function headersOf({ operation }: Call): readonly string[] {
  const { operationId, parameters = [] } = operation
  const sent = new Set(COMPLETED[operationId]?.headers)
  return parameters
    .filter(({ in: place }) => place === 'header')
    .filter(({ name, required }) => required === true || sent.has(name))
    .map((parameter) => `${parameter.name}: ${valueOf(parameter)}`)
}

function urlOf({ method, path, operation }: Call, base: string): string {
  const { parameters = [] } = operation
  const segments = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const parameter = parameters.find((each) => each.in === 'path' && each.name === name)
    return encodeURIComponent(valueOf(parameter ?? { name, schema: {} }))
  })
  const query = parameters.filter(({ in: place }) => place === 'query')
  const required = query.filter(({ required }) => required === true)
  // Shows where a query goes.
  const optional = method === 'get' ? query.find(({ example }) => example !== undefined) : undefined
  const shown = new Set([...required, ...(optional === undefined ? [] : [optional])])
  const pairs = [...shown].map(
    (parameter) =>
      `${encodeURIComponent(parameter.name)}=${encodeURIComponent(valueOf(parameter))}`,
  )
  const rest = pairs.length === 0 ? segments : `${segments}?${pairs.join('&')}`
  // Always quoted, because the page changes the base.
  return `'${base}${rest.replaceAll("'", String.raw`'\''`)}'`
}

/** An example, otherwise a value that the schema permits, otherwise a placeholder such as `TOKEN_ID`. */
function valueOf({ name, example, schema }: Pick<ParameterObject, 'name' | 'example' | 'schema'>) {
  const { const: only, enum: values = [], default: usual, minimum } = schema
  const value = [example].flat()[0] ?? only ?? values[0] ?? usual ?? minimum
  return value === undefined ? name.toUpperCase() : String(value)
}
