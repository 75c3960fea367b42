import { expect, it } from 'vitest'
import { described, type Json, type Operation } from '../../../src/http/openapi/operation.ts'
import { documentOf } from './document.ts'
import { BY_HEAD } from './operation-object.ts'

const API = {
  title: 'An API',
  description: 'For the test.',
  version: '1.2.3',
  credentials: { key: { type: 'http', scheme: 'bearer' } },
  tags: [],
  problems: {
    credentials: ['user_suspended'],
    required: ['unauthorized'],
    write: ['cross_site_request'],
  },
} as const

const OPERATION = {
  operationId: 'one',
  summary: 'One',
  tag: 'some',
  responses: { 204: 'It is so.' },
} as const satisfies Operation

const OWN = { type: 'string', description: 'Judged elsewhere.' }

interface Answered {
  readonly parameters?: readonly Json[]
  readonly requestBody?: Json
  readonly responses: Readonly<Record<string, Json>>
}

/** What the document says of a route with these options. */
function operationOf(
  url: string,
  method: 'GET' | 'PUT',
  route: ReturnType<typeof described>,
): Answered {
  const document = documentOf([{ url, method, ...route, handler: () => undefined }], API)
  const { paths } = JSON.parse(JSON.stringify(document)) as {
    paths: Record<string, Record<string, Answered>>
  }
  const [item = {}] = Object.values(paths)
  const operation = item[method.toLowerCase()]
  if (operation === undefined) throw new Error('the operation is not there')
  return operation
}

it.each<[string, string, Partial<Operation>]>([
  ['a segment that is nowhere described', 'one does not describe id', {}],
  [
    'a parameter that no request can bring',
    'one takes no other',
    { parameters: { path: { id: OWN, other: OWN } } },
  ],
])('throws for %s', (_what, message, more) => {
  expect(() => operationOf('/x/:id', 'GET', described({ ...OPERATION, ...more }))).toThrow(message)
})

const ALWAYS = ['204', '400', '408', '429', '431', '500', '503']

it.each([
  ['GET', 'none', ALWAYS],
  ['GET', 'optional', [...ALWAYS, '403']],
  ['GET', 'required', [...ALWAYS, '401', '403']],
  ['PUT', 'none', [...ALWAYS, '403']],
] as const)(
  'derives refusals: %s with credentials that are %s',
  (method, credentials, expected) => {
    const route = described({ ...OPERATION, credentials })
    const { responses } = operationOf('/x', method, route)
    expect(Object.keys(responses)).toEqual([...expected].sort())
  },
)

it.each([
  ['one route', [['GET', 'HEAD']]],
  ['two routes', [['HEAD'], ['GET']]],
])('describes HEAD with its GET, also of %s', (_what, routes) => {
  const handler = () => undefined
  const ofRoutes = routes.map((method) => ({ url: '/x', method, ...described(OPERATION), handler }))
  const other = described({ ...OPERATION, operationId: 'other' })
  const document = documentOf(
    [...ofRoutes, { url: '/y', method: 'HEAD', ...other, handler }],
    API,
  ) as { paths: Record<string, Record<string, { operationId: string; description?: string }>> }
  expect(Object.keys(document.paths['/x'] ?? {})).toEqual(['get'])
  expect(document.paths['/x']?.['get']?.description).toBe(BY_HEAD)
  // It is all that its path has.
  expect(document.paths['/y']?.['head']?.operationId).toBe('other')
})
