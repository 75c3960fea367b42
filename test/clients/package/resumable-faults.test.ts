import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client, createClient } from '../../../packages/js/src/client.ts'
import { MIB, secretOf } from '../../http/fixture.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { createContent, errorOf, IMPATIENT, streamOf } from './fixture.ts'

const content = createContent(9 * MIB)

describe('a service that does not answer after it has stored the file', () => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openEmbedded()
    user = await service.createUser(64 * MIB)
  })
  afterAll(() => service?.stop())

  it('is not sent the content again', async () => {
    const appends: unknown[] = []
    const client = createClient({
      url: service.url,
      token: secretOf(user),
      retry: IMPATIENT,
      fetch: async (input, init) => {
        const { pathname } = input as URL
        if (/uploads\/./.test(pathname) && init?.method === 'GET') throw new TypeError('lost')
        if (init?.method === 'PATCH') appends.push(input)
        return fetch(input, init)
      },
    })
    const upload = client.files.upload('film', content.bytes, { ifNoneMatch: '*' })
    expect(await errorOf(upload)).toMatchObject({ code: 'connection_lost' })
    expect(appends).toHaveLength(1)
    expect(await client.files.get('film')).toMatchObject({ sha256: content.sha256 })
  })
})

describe('a response that is not from the service', () => {
  it.each(['POST', 'PATCH', 'HEAD'])(
    'has no effect that it is believed to have: %s',
    async (of) => {
      const { client } = startFake((method) => {
        if (method === of) return new Response(of === 'HEAD' ? null : '<html>')
        if (method === 'PATCH') throw new TypeError('lost')
        return method === 'POST' ? CREATED : EMPTY
      })
      expect(await errorOf(client.files.upload('film', content.bytes))).toMatchObject({
        code: 'unexpected_response',
        status: 200,
      })
    },
  )
})

it('a stream is not continued before the part that is in memory', async () => {
  const { client, asked } = startFake((method, appends) => {
    if (method === 'POST') return CREATED
    if (method === 'HEAD') return offsetOf(200, 0)
    if (method === 'PATCH' && appends === 1) return offsetOf(204, 8 * MIB)
    throw new TypeError('lost')
  })
  const error = await errorOf(client.files.upload('film', streamOf(content.bytes)))
  expect(error).toMatchObject({
    code: 'offset_mismatch',
    problem: { offset: 0, provided_offset: 8 * MIB },
  })
  expect(asked.filter((method) => method === 'PATCH')).toHaveLength(2)
})

it('the reason of a refusal is asked for again if it is lost', async () => {
  const { client, asked } = startFake((method, appends) => {
    if (method === 'POST') return CREATED
    if (method === 'HEAD') return new Response(null, { status: 412 })
    if (method === 'PATCH' && appends === 3) {
      const problem = { status: 412, code: 'precondition_failed' }
      return Response.json(problem, { status: 412 })
    }
    throw new TypeError('lost')
  })
  const upload = client.files.upload('film', content.bytes, { ifNoneMatch: '*' })
  expect(await errorOf(upload)).toMatchObject({ code: 'precondition_failed' })
  expect(asked.filter((method) => method === 'POST')).toHaveLength(1)
})

const CREATED = new Response(null, { status: 201, headers: { location: '/users/me/uploads/u1' } })
const EMPTY = Response.json({ uploads: [], next_cursor: null })

function offsetOf(status: number, offset: number): Response {
  return new Response(null, { status, headers: { 'upload-offset': String(offset) } })
}

/** A client of a service that answers each request in this way. `appends` counts those so far. */
function startFake(answer: (method: string, appends: number) => Response): {
  readonly client: Client
  readonly asked: readonly string[]
} {
  const asked: string[] = []
  const fake: typeof fetch = async (_, init) => {
    const { method = 'GET', body } = init ?? {}
    asked.push(method)
    if (body !== null && body !== undefined) await new Response(body).arrayBuffer()
    const appends = asked.filter((one) => one === 'PATCH').length
    // The cancellation of the upload.
    return method === 'GET' ? EMPTY.clone() : answer(method, appends).clone()
  }
  return { client: createClient({ url: 'http://fake', retry: IMPATIENT, fetch: fake }), asked }
}
