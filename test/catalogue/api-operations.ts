import { readFile } from 'node:fs/promises'
import { DOCUMENT_FILES } from '../openapi/documents.ts'
import { ADMIN_OPERATIONS } from './admin.ts'
import { BY_HEAD } from '../openapi/generator/operation-object.ts'
import type { Operation } from './operation.ts'
import { PUBLIC_OPERATIONS } from './public.ts'

export type Listener = keyof typeof DOCUMENT_FILES

/** What the OpenAPI document of a listener has of an operation. */
export interface DescribedOperation {
  readonly listener: Listener
  /** The `operationId`. */
  readonly id: string
  readonly method: string
  /** Such as `/users/me/repo/{file_name}`. */
  readonly template: string
  /** The methods that its paths have, those of another template included, in the order of an `Allow` header. */
  readonly methods: readonly string[]
  readonly credentials: 'required' | 'optional' | 'none'
  /** Whether HEAD gets the same response, without its content. */
  readonly hasHead: boolean
  /** Whether a request has a body of JSON. */
  readonly takesJson: boolean
  /** Whether it answers 200 with JSON. */
  readonly answersJson: boolean
  /** The names of query parameters. */
  readonly queries: readonly string[]
}

export interface ApiOperation extends DescribedOperation, Operation {}

/** In the order of an `Allow` header. */
const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options']

export const CATALOGUE = { public: PUBLIC_OPERATIONS, admin: ADMIN_OPERATIONS } as const

/** All operations of both documents. */
export const DESCRIBED: readonly DescribedOperation[] = [
  ...(await readOperations('public')),
  ...(await readOperations('admin')),
]

/** Those that the catalogue has, which a test compares with the documents. */
export const OPERATIONS: readonly ApiOperation[] = DESCRIBED.flatMap((described) => {
  const operation = CATALOGUE[described.listener][described.id]
  return operation === undefined ? [] : [{ ...described, ...operation }]
})

/** With their names, for `it.each`. */
export function namesOf(
  operations: readonly ApiOperation[],
): (readonly [name: string, operation: ApiOperation])[] {
  return operations.map((operation) => [`${operation.listener} ${operation.id}`, operation])
}

interface OperationObject {
  readonly operationId: string
  readonly description?: string
  readonly security?: readonly object[]
  readonly parameters?: readonly { readonly in?: string; readonly name?: string }[]
  readonly requestBody?: { readonly content: object }
  readonly responses: Readonly<Record<string, { readonly content?: object }>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
}

async function readOperations(listener: Listener): Promise<readonly DescribedOperation[]> {
  const { paths } = JSON.parse(await readFile(DOCUMENT_FILES[listener], 'utf8')) as Document
  return Object.entries(paths).flatMap(([template, item]) => {
    const items = Object.entries(paths).filter(([other]) => isWithin(template, other))
    const methods = METHODS.filter((method) =>
      items.some(([, each]) => Object.hasOwn(each, method) || (method === 'head' && hasHead(each))),
    )
    return Object.entries(item).flatMap(([method, operation]) => {
      return {
        listener,
        id: operation.operationId,
        method: method.toUpperCase(),
        template,
        methods: methods.map((each) => each.toUpperCase()),
        credentials: credentialsOf(operation),
        hasHead: method === 'get' && hasHead(item),
        queries: (operation.parameters ?? []).flatMap((parameter) =>
          parameter.in === 'query' ? [parameter.name ?? ''] : [],
        ),
        answersJson: Object.hasOwn(operation.responses['200']?.content ?? {}, 'application/json'),
        takesJson: Object.hasOwn(operation.requestBody?.content ?? {}, 'application/json'),
      }
    })
  })
}

/** Whether each path of the one template is one of the other, in which a file name is all that follows. */
function isWithin(template: string, other: string): boolean {
  if (template === other) return true
  const [head = '', rest] = other.split('{file_name}')
  const pattern = head.replaceAll(/\{\w+\}/g, '[^/]+')
  return rest === '' && new RegExp(`^${pattern}.`).test(template)
}

function hasHead({ get }: Readonly<Record<string, OperationObject>>): boolean {
  return get?.description?.endsWith(BY_HEAD) === true
}

function credentialsOf({ security = [] }: OperationObject): DescribedOperation['credentials'] {
  if (security.length === 0) return 'none'
  return security.some((scheme) => Object.keys(scheme).length === 0) ? 'optional' : 'required'
}
