import { describe, expect, it } from 'vitest'
import { CATALOGUE, DESCRIBED, OPERATIONS, namesOf } from './api-operations.ts'
import type { Scene } from './scene.ts'

describe('the catalogue of operations', () => {
  it.each(['public', 'admin'] as const)('has those of the %s OpenAPI document', (listener) => {
    const described = DESCRIBED.filter((each) => each.listener === listener)
    expect(
      Object.keys(CATALOGUE[listener]).toSorted(),
      `compare test/catalogue/${listener}.ts with the registered routes`,
    ).toEqual(described.map(({ id }) => id).toSorted())
  })

  it.each(namesOf(OPERATIONS))('has a request of the method and path of %s', (_name, operation) => {
    const { method = 'GET', path } = operation.sent(EXAMPLE)
    expect({ method, isOfPath: pathPattern(operation.template).test(path) }).toEqual({
      method: operation.method,
      isOfPath: true,
    })
  })

  it.each(namesOf(OPERATIONS.filter(({ method, answersJson }) => method === 'GET' && answersJson)))(
    'says what the answer of %s shows',
    (_name, { shows }) => {
      expect(shows).toBeDefined()
    },
  )

  it('has HEAD for each GET of the public API', () => {
    const without = OPERATIONS.filter(
      ({ listener, method, hasHead }) => listener === 'public' && method === 'GET' && !hasHead,
    )
    // A feed waits, and HEAD of an upload tells its offset.
    expect(without.map(({ id }) => id)).toEqual(['listChanges', 'getUpload'])
  })

  it.each(namesOf(OPERATIONS))('says what a token needs for %s', (_name, operation) => {
    const takesToken = operation.listener === 'public' && operation.credentials !== 'none'
    expect(operation.anyOf !== undefined).toBe(
      takesToken && operation.id !== 'getUploadCapabilities',
    )
  })

  it.each(namesOf(OPERATIONS))('says which operators may do %s', (_name, operation) => {
    const isOfOperators = operation.listener === 'admin' && operation.credentials !== 'none'
    expect(operation.role !== undefined).toBe(isOfOperators)
  })

  it.each(namesOf(OPERATIONS.filter(({ listener }) => listener === 'admin')))(
    'has %s audited if it changes something',
    (_name, { changes = [], audited }) => {
      expect(changes.length > 0 && audited === undefined).toBe(false)
    },
  )
})

const EXAMPLE: Scene = {
  userId: 'user',
  token: 'token',
  adminToken: 'admin-token',
  file: 'in-file',
  version: 'version',
  upload: 'upload',
  tokenId: 'token-id',
  linkId: 'link',
  download: 'download',
  drop: 'drop',
  dropped: 'dropped',
  locked: 'locked',
  operator: 'operator',
  webhook: 'webhook',
}

function pathPattern(template: string): RegExp {
  return new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?|$)`)
}
