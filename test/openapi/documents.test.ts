import { readFile } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { beforeAll, describe, expect, it } from 'vitest'
import { ERROR_CODES } from '../../src/core/error-codes.ts'
import type { Json, Operation } from '../../src/http/openapi/operation.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import { NO_BUILD } from '../support/http/page.ts'
import { DOCUMENT_FILES, makeDocuments } from './documents.ts'
import { type RecordedRoutes, recordRoutes } from './generator/recorded-routes.ts'

interface Document extends Json {
  readonly openapi: string
  readonly servers: readonly Json[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: Readonly<Record<string, Json>>
}

interface OperationObject extends Json {
  readonly operationId: string
  readonly requestBody?: { readonly required: boolean; readonly content: Json }
  readonly responses: Readonly<Record<string, { readonly content?: Json }>>
}

const KINDS = ['public', 'admin'] as const

const JSON_TYPE = 'application/json'

const INT64 = { type: 'integer', format: 'int64' }

/** The routes that no document describes, besides those that refuse methods. */
const UNDESCRIBED = {
  public: ['GET HEAD /', 'GET HEAD /assets/:name', 'POST /users/me/uploads/'],
  admin: ['GET /metrics', 'GET HEAD /', 'GET HEAD /assets/:name'],
}

let routes: RecordedRoutes
let texts: Awaited<ReturnType<typeof makeDocuments>>

beforeAll(async () => {
  routes = await recordRoutes()
  texts = await makeDocuments(routes)
})

const read = (kind: (typeof KINDS)[number]): Document => JSON.parse(texts[kind]) as Document

it('the service accepts no body where the document lets a JSON body be missing, and nowhere else', () => {
  const described = Object.values(read('public').paths).flatMap((path) => Object.values(path))
  const optional = described
    .filter(({ requestBody: body }) => body?.required === false && JSON_TYPE in body.content)
    .map(({ operationId }) => operationId)
  const taken = routes.public
    .filter(({ config }) => config?.json?.isOptional)
    .map(({ config }) => String((config?.operation as Operation | undefined)?.operationId))
  expect(optional).toContain('updateLink')
  expect(taken.toSorted()).toEqual(optional.toSorted())
})

describe.each(KINDS)('the %s OpenAPI document', (kind) => {
  it('is the one that is committed; if not: npm run openapi', async () => {
    expect(texts[kind]).toBe(await readFile(DOCUMENT_FILES[kind], 'utf8'))
  })

  it('has every route but those for pages, preflights, Prometheus and refusals', () => {
    const missing = routes[kind].filter(
      ({ config }) => config?.operation === undefined && config?.allowedMethods === undefined,
    )
    const names = missing.map(({ method, url }) => `${[method].flat().join(' ')} ${url}`)
    expect(names.toSorted()).toEqual(UNDESCRIBED[kind])
  })

  it('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(texts[kind])
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined })
    expect(read(kind).openapi).toMatch(/^3\.1\./)
  })

  it('names every code of a refusal, with an example that is one', () => {
    const { schemas = {}, examples = {} } = read(kind).components
    const problem = schemas['Problem'] as { readonly properties: { readonly code: Json } }
    expect(problem.properties.code['enum']).toEqual([...ERROR_CODES])
    expect(Object.keys(examples)).toEqual([...ERROR_CODES])
  })

  it('refers to nothing that is not there', () => {
    const document = read(kind)
    const references = [...texts[kind].matchAll(/"\$ref": "#\/([^"]+)"/g)].map(([, path]) => path)
    expect(references.length).toBeGreaterThan(50)
    for (const path of new Set(references)) {
      const found = path?.split('/').reduce<unknown>((part, name) => (part as Json)[name], document)
      expect({ path, found: typeof found }).toEqual({ path, found: 'object' })
    }
  })

  it('has examples that its schemas allow', () => {
    const document = read(kind)
    const { schemas } = document.components
    const ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true }))
    const examples = mediaOf(document).filter(({ example }) => example !== undefined)
    expect(examples.length).toBeGreaterThan(5)
    for (const { schema, example } of examples) {
      const validate = ajv.compile({ ...(schema as Json), components: { schemas } })
      expect(
        validate(example),
        `${JSON.stringify(example)} ${ajv.errorsText(validate.errors)}`,
      ).toBe(true)
    }
  })

  it('says what each number counts, and in which unit', () => {
    const isNumber = (type: unknown): boolean => type === 'integer' || type === 'number'
    const numbers = membersOf(read(kind)).filter(
      ([, { type, description }]) => [type].flat().some(isNumber) && description === undefined,
    )
    // The HTTP status of a problem is what its name says.
    expect(numbers.map(([name]) => name).filter((name) => name !== 'status')).toEqual([])
  })

  it('says which integers need more than 32 bits, as bytes do', () => {
    const { schemas = {} } = read(kind).components
    expect(schemas['Device'] ?? schemas['SeenFile']).toMatchObject({
      properties: kind === 'admin' ? { bytes: INT64 } : { size: INT64 },
    })
    // Generators of clients otherwise take 32 bits: openapi-generator for Java and C#, oapi-codegen on small devices.
    const integers = schemasOf(read(kind)).filter(({ type }) => [type].flat().includes('integer'))
    const wrong = integers.filter(({ format, maximum = Infinity }) => {
      const isWide = Number(maximum) >= 2 ** 31
      return isWide !== (format === 'int64')
    })
    expect(wrong).toEqual([])
  })

  it('has nothing that generators of clients misread', () => {
    const document = read(kind)
    const defaults = membersOf(document).filter((member) => 'default' in member[1])
    // openapi-typescript makes such a member required.
    expect(defaults).toEqual([])
    const { schemas = {} } = document.components
    // openapi-python-client leaves out a named schema with two types.
    const mixed = Object.entries(schemas).filter(([, each]) =>
      Array.isArray((each as Json)['type']),
    )
    expect(mixed).toEqual([])
  })

  it('names each operation once', () => {
    const names = operationsOf(read(kind)).map(({ operationId }) => operationId)
    expect(names).toEqual([...new Set(names)])
  })
})

describe('the public OpenAPI document', () => {
  it('has both operations of the contract', () => {
    const file = read('public').paths['/users/me/repo/{file_name}']
    expect(file?.['post']).toMatchObject({
      security: [{ bearer: [] }, { access_token: [] }],
      requestBody: {
        required: true,
        content: {
          'multipart/form-data': {
            schema: { required: ['file'], properties: { file: { format: 'binary' } } },
          },
        },
      },
    })
    expect(Object.keys(file?.['post']?.responses ?? {})).toEqual(
      expect.arrayContaining(['200', '400', '403']),
    )
    for (const path of ['/users/me/repo/{file_name}', '/users/{user_id}/repo/{file_name}']) {
      const download = read('public').paths[path]?.['get']
      expect(download).toMatchObject({ security: [{}, { bearer: [] }, { access_token: [] }] })
      expect(download?.responses['200']?.content).toMatchObject({
        'application/octet-stream': {},
        'image/jpeg': {},
      })
      expect(Object.keys(download?.responses ?? {})).toEqual(
        expect.arrayContaining(['200', '403', '404']),
      )
    }
  })

  it('stands under the base path, and says so', async () => {
    const service = await openEmbedded({ basePath: '/api', page: NO_BUILD })
    try {
      const reply = await fetch(`${service.url}/api/openapi.json`)
      expect(reply.headers.get('content-type')).toMatch(/^application\/json/)
      const document = (await reply.json()) as Document
      expect(document.servers).toEqual([{ url: '/api' }])
      expect(document.paths).toEqual(read('public').paths)
      expect((await fetch(`${service.url}/openapi.json`)).status).toBe(404)
    } finally {
      await service.stop()
    }
  })
})

describe('the admin OpenAPI document', () => {
  it('is not for those without the token', async () => {
    const service = await openEmbedded({ adminToken: 'an-admin-token-of-the-tests' })
    try {
      const url = `http://127.0.0.1:${service.adminPort}/openapi.json`
      expect((await fetch(url)).status).toBe(401)
    } finally {
      await service.stop()
    }
  })
})

function operationsOf({ paths }: Document): OperationObject[] {
  return Object.values(paths).flatMap((item) => Object.values(item))
}

interface Media {
  readonly schema?: unknown
  readonly example?: unknown
}

/** What has a media type, in requests and answers. */
function mediaOf(document: Document): Media[] {
  return operationsOf(document).flatMap(({ requestBody, responses }) => {
    const parts = [
      requestBody as { readonly content?: Json } | undefined,
      ...Object.values(responses),
    ]
    return parts.flatMap((part) => Object.values(part?.content ?? {}) as Media[])
  })
}

/** The members of all objects in a part of a document, by name. */
function membersOf(part: unknown): (readonly [name: string, schema: Json])[] {
  if (typeof part !== 'object' || part === null) return []
  const { properties } = part as { readonly properties?: unknown }
  const isSchema = typeof properties === 'object' && properties !== null
  const members = isSchema ? Object.entries(properties as Readonly<Record<string, Json>>) : []
  return [...members, ...Object.values(part).flatMap(membersOf)]
}

/** All objects in it, of which some are schemas. */
function schemasOf(part: unknown): Json[] {
  if (typeof part !== 'object' || part === null) return []
  return [part as Json, ...Object.values(part).flatMap(schemasOf)]
}
