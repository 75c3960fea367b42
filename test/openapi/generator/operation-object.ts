import type { RouteOptions } from 'fastify'
import type { ErrorCode } from '../../../src/core/error-codes.ts'
import type { OperatorRole } from '../../../src/core/operators/operator.ts'
import {
  type Answer,
  isBodyRequired,
  type Json,
  type Operation,
  type Schemas,
} from '../../../src/http/openapi/operation.ts'
import type { Components } from './components.ts'
import { headerRefs } from './headers.ts'
import { mapMembers } from './members.ts'
import { isRestricted, problemResponses } from './problem-responses.ts'

export interface DescribedRoute {
  readonly route: RouteOptions
  readonly operation: Operation
  readonly path: string
  /** Whether `HEAD` gets the same response, without its content. */
  readonly isReadByHead: boolean
  readonly schemes: readonly string[]
  readonly problems: readonly ErrorCode[]
  readonly role: OperatorRole | undefined
  readonly components: Components
}

export function operationObject(described: DescribedRoute, method: string): Json {
  return method === 'head' ? headOf(described) : objectOf(described)
}

function objectOf(described: DescribedRoute): Json {
  const { route, operation, problems, components } = described
  const schemas = (route.schema?.response ?? {}) as Schemas
  const json = operation.jsonBody ?? route.schema?.body
  const requestBody = operation.requestBody ?? (json && jsonRequestBody(json as Json))
  const answers = mapMembers(operation.responses, (answer, status) => {
    const { description, headers } = headOfAnswer(answer)
    const content = { ...jsonOf(answer, schemas[status]), ...fullAnswer(answer).content }
    const isEmpty = Object.keys(content).length === 0
    return { description, headers, content: isEmpty ? undefined : components.schema(content) }
  })
  const refusals = mapMembers(problemResponses(problems), (problem, status) => {
    const page = operation.responses[Number(status)]
    if (page === undefined) return components.response(problem, status)
    const { description, content: declared } = fullAnswer(page)
    const content = { ...(problem['content'] as Json), ...declared }
    const text = `${String(problem['description'])}\n\n${description}`
    return components.schema({ ...problem, description: text, content })
  })
  return {
    ...headingOf(described),
    requestBody: components.schema(requestBody),
    responses: { ...answers, ...refusals },
  }
}

/** A `HEAD` that is no `GET` without content. */
function headOf(described: DescribedRoute): Json {
  const { operation, problems, components } = described
  const answers = mapMembers(operation.responses, headOfAnswer)
  const refusals = mapMembers(
    problemResponses(problems),
    ({ content: _content, ...head }, status) => components.response(head, `${status}Head`),
  )
  return { ...headingOf(described), responses: { ...answers, ...refusals } }
}

/** Members that are `undefined` are left out of the document. */
function headingOf(described: DescribedRoute): Json {
  const { operation, schemes } = described
  const { operationId, summary, tag, credentials = 'required' } = operation
  const description = descriptionOf(described)
  const required = schemes.map((scheme) => ({ [scheme]: [] }))
  const security = { required, optional: [{}, ...required], none: [] }
  const parameters = parametersOf(described)
  return {
    operationId,
    summary,
    description: description === '' ? undefined : description,
    tags: [tag],
    security: security[credentials],
    parameters: parameters.length === 0 ? undefined : parameters,
  }
}

function descriptionOf({ operation, role, isReadByHead }: DescribedRoute): string {
  const needed = isRestricted(role) ? [`Needs the role \`${role}\`.`] : []
  const own = [operation.description ?? [], needed].flat().join(' ')
  return [own, isReadByHead ? BY_HEAD : ''].filter(Boolean).join('\n\n')
}

/** The last paragraph of the description of a `GET` that answers `HEAD` too. */
export const BY_HEAD = '`HEAD` gets the same response without its content.'

/** Throws for a parameter without a description, and for a description without a parameter. */
function parametersOf({ route, operation, path }: DescribedRoute): readonly Json[] {
  const { operationId, parameters = {} } = operation
  const segments = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const query = propertiesOf(route.schema?.querystring)
  const places = [
    ['path', segments, { ...propertiesOf(route.schema?.params), ...parameters.path }],
    ['query', Object.keys(query), { ...query, ...parameters.query }],
    ['header', Object.keys(parameters.header ?? {}), parameters.header ?? {}],
  ] as const
  for (const name of Object.keys({ ...parameters.path, ...parameters.query })) {
    if (!segments.includes(name) && !(name in query))
      throw new Error(`${operationId} takes no ${name}`)
  }
  return places.flatMap(([place, names, schemas]) =>
    names.map((name) => {
      const { description, examples, required = place === 'path', ...schema } = schemas[name] ?? {}
      if (description === undefined) throw new Error(`${operationId} does not describe ${name}`)
      const example: unknown = Array.isArray(examples) ? examples[0] : undefined
      return {
        name,
        in: place,
        description,
        schema,
        example,
        required: required === true || undefined,
      }
    }),
  )
}

function propertiesOf(schema: unknown): Schemas {
  return (schema as { readonly properties?: Schemas } | undefined)?.properties ?? {}
}

function jsonRequestBody(schema: Json): Json {
  return {
    required: isBodyRequired(schema),
    content: { 'application/json': { schema, example: exampleOf(schema) } },
  }
}

function headOfAnswer(answer: string | Answer) {
  const { description, headers = [] } = fullAnswer(answer)
  return { description, headers: headerRefs(['X-Request-Id', ...headers]) }
}

function jsonOf(answer: string | Answer, schema: Json | undefined): Json | undefined {
  if (schema === undefined) return undefined
  const example = { ...(exampleOf(schema) as Json), ...fullAnswer(answer).example }
  return { 'application/json': { schema, example } }
}

function fullAnswer(answer: string | Answer): Answer {
  return typeof answer === 'string' ? { description: answer } : answer
}

function exampleOf({ examples, const: only, items, allOf, properties }: Json): unknown {
  if (Array.isArray(examples)) return examples[0]
  if (items !== undefined) return [exampleOf(items as Json)]
  if (Array.isArray(allOf)) return Object.assign({}, ...allOf.map(exampleOf)) as unknown
  return properties === undefined ? only : mapMembers(properties as Schemas, exampleOf)
}
