import type { RouteOptions } from 'fastify'
import type { Components } from './components.ts'
import { headerRefs } from './headers.ts'
import { mapMembers } from './members.ts'
import type { Answer, Json, Operation, Parameter } from './operation.ts'
import { problemResponses } from './problem-responses.ts'

export interface DescribedRoute {
  readonly route: RouteOptions
  readonly operation: Operation
  /** The name of the credentials that operations take. */
  readonly scheme: string
  readonly components: Components
}

/** What a document says under a path and this method, in lower case. */
export function operationObject(described: DescribedRoute, method: string): Json {
  return method === 'head' ? headOf(described) : objectOf(described)
}

function objectOf(described: DescribedRoute): Json {
  const { route, operation, components } = described
  const { requestBody, responses, problems } = operation
  const schemas = (route.schema?.response ?? {}) as Readonly<Record<string, unknown>>
  const body = requestBody === undefined ? {} : { requestBody: components.schema(requestBody) }
  const answers = mapMembers(responses, (answer, status) =>
    answerOf(answer, components.schema(schemas[status])),
  )
  const refusals = mapMembers(problemResponses(problems), (problem, status) =>
    components.response(problem, status),
  )
  return { ...headingOf(described), ...body, responses: { ...answers, ...refusals } }
}

/** `HEAD` answers the head of what `GET` would, the whole file's in place of a range's. */
function headOf(described: DescribedRoute): Json {
  const { operation, components } = described
  const { operationId, summary, responses, problems } = operation
  const { 206: _range, ...whole } = responses
  const answers = mapMembers(whole, ({ content: _content, ...answer }) =>
    answerOf(answer, undefined),
  )
  const codes = problems.filter((code) => code !== 'range_not_satisfiable')
  const refusals = mapMembers(problemResponses(codes), ({ content: _content, ...head }, status) =>
    components.response(head, `${status}Head`),
  )
  const heading = headingOf({
    ...described,
    operation: {
      ...operation,
      operationId: `head${operationId[0]?.toUpperCase()}${operationId.slice(1)}`,
      summary: `${summary}: the head of the answer alone`,
    },
  })
  return { ...heading, responses: { ...answers, ...refusals } }
}

function headingOf({ operation, scheme }: DescribedRoute): Json {
  const { operationId, summary, description, tag, credentials, parameters = [] } = operation
  const security = { required: [{ [scheme]: [] }], optional: [{}, { [scheme]: [] }], none: [] }
  return {
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    security: security[credentials],
    ...(parameters.length === 0 ? {} : { parameters: parameters.map(parameterOf) }),
  }
}

function parameterOf(parameter: Parameter): Json {
  return parameter.in === 'path' ? { ...parameter, required: true } : { ...parameter }
}

function answerOf({ description, headers = [], example, content }: Answer, schema: unknown): Json {
  const media = { schema, ...(example && { example }) }
  const json = schema === undefined ? undefined : { 'application/json': media }
  const body = content ?? json
  return {
    description,
    headers: headerRefs(['X-Request-Id', ...headers]),
    ...(body === undefined ? {} : { content: body }),
  }
}
