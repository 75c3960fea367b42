import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { createAnswerCheck, type Exchange, type OpenApi } from './answer-check.ts'
import { DOCUMENT_FILES } from './documents.ts'

const REQUEST_ID = '6f1c1c0e-52c4-4f0e-9d0b-3a7d5f4f2a11'

const PROBLEM = {
  type: 'urn:cloud-repository:problem:not_found',
  title: 'Not Found',
  status: 404,
  detail: 'The file was not found.',
  code: 'not_found',
  request_id: REQUEST_ID,
}

let document: OpenApi

beforeAll(async () => {
  document = JSON.parse(await readFile(DOCUMENT_FILES.public, 'utf8')) as OpenApi
})

/** What the check says of an answer to a GET that is all right but for what a test changes. */
function faultOf(change: Partial<Omit<Exchange, 'body'>> & { readonly body?: unknown }) {
  const { body = PROBLEM, headers = {}, ...rest } = change
  return createAnswerCheck(
    document,
    '',
  )({
    method: 'GET',
    target: '/users/me/repo/a?b',
    status: 404,
    ...rest,
    headers: { 'x-request-id': REQUEST_ID, 'content-type': 'application/problem+json', ...headers },
    body: Buffer.from(JSON.stringify(body)),
  })
}

describe('an answer', () => {
  it('may be what the document says', () => {
    expect(faultOf({})).toBeUndefined()
    expect(faultOf({ target: '/users/%6De/repo/a' })).toBeUndefined()
    expect(faultOf({ target: '/nothing' })).toBeUndefined()
  })

  it.each([
    ['of a status that the operation does not have', { status: 418 }],
    ['of another media type', { headers: { 'content-type': 'text/html' } }],
    ['of a code that the status does not have', { body: { ...PROBLEM, code: 'format_error' } }],
    ['of another status inside', { body: { ...PROBLEM, status: 400 } }],
    ['with a member that is not described', { body: { ...PROBLEM, secret: 1 } }],
    ['without a member', { body: { ...PROBLEM, detail: undefined } }],
    ['with a bad header', { headers: { 'x-request-id': '1' } }],
    ['of success where there is no route', { target: '/nothing', status: 200, body: {} }],
    ['of success to a method that the path has not', { method: 'TRACE', status: 200, body: {} }],
    ['405 without Allow', { method: 'TRACE', status: 405 }],
    ['outside of the base path', { target: 'users/me/capacity', status: 200, body: {} }],
  ])('may not be one %s', (_what, change) => {
    expect(faultOf(change)).toBeDefined()
  })

  it('may not lack a header', () => {
    const answer = {
      method: 'GET',
      target: '/livez',
      status: 200,
      headers: {},
      body: Buffer.alloc(0),
    }
    expect(createAnswerCheck(document, '')(answer)).toMatch(/has no X-Request-Id/)
  })
})
