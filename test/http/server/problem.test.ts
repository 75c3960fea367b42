import { STATUS_CODES } from 'node:http'
import fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import { ERROR_CODES } from '../../../src/core/error-codes.ts'
import { PROBLEM_MEDIA_TYPE, problemOf, sendProblem } from '../../../src/http/server/problem.ts'

const SECRET = 'postgres://user:hunter2@db'

/** The status and code that Fastify's own errors carry. */
function fastifyError(code: string, statusCode: number): Error {
  return Object.assign(new Error(SECRET), { code, statusCode })
}

/** What a client gets when a handler throws `error`. */
async function answerTo(error: unknown) {
  const app = fastify({ genReqId: () => 'request-1' })
  app.setErrorHandler(sendProblem)
  app.get(
    '/',
    { schema: { querystring: { type: 'object', properties: { n: { type: 'integer' } } } } },
    () => {
      throw error
    },
  )
  await using _ = { [Symbol.asyncDispose]: () => app.close() }
  return await app.inject('/')
}

describe('problemOf', () => {
  it('describes an error of ours with its figures', () => {
    const facts = { capacity: 100, used: 90, requested: 20 }
    expect(problemOf(new AppError('capacity_exceeded', 'Full.', { facts }), 'request-1')).toEqual({
      type: 'urn:cloud-repository:problem:capacity_exceeded',
      title: 'Forbidden',
      status: 403,
      detail: 'Full.',
      code: 'capacity_exceeded',
      request_id: 'request-1',
      capacity: 100,
      used: 90,
      requested: 20,
    })
  })

  it.each(ERROR_CODES)('gives %s a status of its own kind, titled as HTTP does', (code) => {
    const { status, title } = problemOf(new AppError(code, 'A sentence.'), 'request-1')
    expect(status).toBeGreaterThanOrEqual(400)
    expect(title).toBe(code === 'checksum_mismatch' ? 'Checksum Mismatch' : STATUS_CODES[status])
    const ours = ['internal_error', 'webhook_failed', 'unavailable', 'insufficient_storage']
    expect(status >= 500).toBe(ours.includes(code))
  })

  it.each([
    ['format_error', 400],
    ['missing_file_part', 400],
    ['multiple_file_parts', 400],
    ['truncated_body', 400],
    ['invalid_file_name', 400],
    ['invalid_parameter', 400],
    ['access_token_missing', 403],
    ['access_token_invalid', 403],
    ['capacity_exceeded', 403],
    ['file_count_exceeded', 403],
    ['user_suspended', 403],
    ['cross_site_request', 403],
    ['not_found', 404],
    ['file_too_large', 413],
    ['unavailable', 503],
    ['insufficient_storage', 503],
  ] as const)('answers %s with %d, as the contract says', (code, status) => {
    expect(problemOf(new AppError(code, 'A sentence.'), 'request-1').status).toBe(status)
  })

  it('does not show the cause of an error', () => {
    const error = new AppError('unavailable', 'Later.', { cause: new Error(SECRET) })
    expect(JSON.stringify(problemOf(error, 'request-1'))).not.toContain('hunter2')
  })

  it.each([
    ['an error', new Error(SECRET)],
    ['an error with a status above 499', fastifyError('X', 500)],
    [
      'an error with a status that is none',
      Object.assign(new Error(SECRET), { statusCode: '404' }),
    ],
    ['a string', SECRET],
    ['nothing', undefined],
    ['null', null],
    ['an object', { statusCode: 404, message: SECRET }],
  ])('says nothing of %s that was not thrown on purpose', (_, error) => {
    const problem = problemOf(error, 'request-1')
    expect(problem).toMatchObject({ code: 'internal_error', status: 500 })
    expect(JSON.stringify(problem)).not.toContain('hunter2')
  })

  it.each([
    ['FST_ERR_BAD_URL', 400, 'invalid_parameter'],
    ['FST_ERR_VALIDATION', 400, 'invalid_parameter'],
    ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 415, 'format_error'],
    ['FST_ERR_CTP_BODY_TOO_LARGE', 413, 'format_error'],
    ['FST_ERR_SOMETHING_NEW', 406, 'format_error'],
  ])(
    "answers Fastify's %s (%d) with 400 %s, and never with 406 or 415",
    (code, status, expected) => {
      const problem = problemOf(fastifyError(code, status), 'request-1')
      expect(problem).toMatchObject({ code: expected, status: 400 })
      expect(JSON.stringify(problem)).not.toContain('hunter2')
    },
  )
})

describe('sendProblem', () => {
  it('answers with a problem document that no cache keeps', async () => {
    const { statusCode, headers, body } = await answerTo(new AppError('not_found', 'No.'))
    expect(statusCode).toBe(404)
    expect(headers['content-type']).toBe(PROBLEM_MEDIA_TYPE)
    expect(headers['cache-control']).toBe('no-store')
    expect(headers).not.toHaveProperty('retry-after')
    expect(JSON.parse(body)).toMatchObject({ code: 'not_found', request_id: 'request-1' })
  })

  it('says when to try again what is unavailable', async () => {
    const { statusCode, headers } = await answerTo(new AppError('unavailable', 'Later.'))
    expect(statusCode).toBe(503)
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  })

  it('answers a defect with 500 and a fixed sentence', async () => {
    const { statusCode, headers, body } = await answerTo(new TypeError(SECRET))
    expect(statusCode).toBe(500)
    expect(headers['content-type']).toBe(PROBLEM_MEDIA_TYPE)
    expect(body).not.toContain('hunter2')
  })
})
