import { expect } from 'vitest'
import { expectProblem, jsonOf, pathOf, uploadPieces } from '../../http/fixture.ts'
import { digest } from '../../support/objects.ts'
import { type RawExchange, rawRequest } from '../../support/http/raw-http.ts'
import type { TestService } from '../../support/service/test-service.ts'
import type { Content, Register } from './register.ts'

/** What an answer means for the register of a name; any other answer fails the test. */
export type Answer = 'done' | 'refused' | 'unavailable'

export interface Target {
  readonly service: TestService
  readonly register: Register
}

/** Longer than any answer may take, faults or not. */
const ANSWER_TIMEOUT_MS = 60_000

/** Uploads, as a form or as it is, with or without a length. */
export async function uploadTo(
  { service, register }: Target,
  what: Content & { readonly method: 'POST' | 'PUT'; readonly chunked: boolean },
): Promise<Answer> {
  const { user, name } = register
  const { bytes, sha256, method, chunked } = what
  const send = uploadPieces({ method, user, name, content: bytes, chunked })
  const reply = await rawRequest({ port: service.port, send, timeoutMs: ANSWER_TIMEOUT_MS })
  if (reply.status === 200) {
    expect(jsonOf(reply)).toMatchObject({ name, size: bytes.length, sha256 })
    register.acknowledged(sha256)
    return 'done'
  }
  if (reply.status === 403) {
    const problem = expectProblem(reply, { status: 403, code: 'capacity_exceeded' })
    expect(problem['available']).toBeLessThan(problem['requested'] as number)
    return 'refused'
  }
  expectUnavailable(reply)
  register.leftOpen(sha256)
  return 'unavailable'
}

export async function removeFrom({ service, register }: Target): Promise<Answer> {
  const reply = await request({ service, register }, 'DELETE')
  if (reply.status === 204) {
    register.acknowledged(undefined)
    return 'done'
  }
  if (reply.status === 404) {
    register.assertPossible(undefined)
    return 'refused'
  }
  expectUnavailable(reply)
  register.leftOpen(undefined)
  return 'unavailable'
}

/** Reads the file, which must be one that can be there; a download that breaks off counts as unavailable. */
export async function readFrom(target: Target): Promise<{ answer: Answer; size: number }> {
  const reply = await request(target, 'GET')
  if (reply.status === 200) {
    target.register.assertPossible(digest(reply.body))
    return { answer: 'done', size: reply.body.length }
  }
  if (reply.status === 404) {
    target.register.assertPossible(undefined)
    return { answer: 'refused', size: 0 }
  }
  if (reply.status !== 0 || reply.received.length === 0) {
    expectUnavailable(reply)
  }
  return { answer: 'unavailable', size: 0 }
}

function request({ service, register }: Target, method: 'GET' | 'DELETE'): Promise<RawExchange> {
  const { user, name } = register
  const path = pathOf(name)
  const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nCookie: ${user.cookie}\r\n\r\n`
  return rawRequest({ port: service.port, send: [head], timeoutMs: ANSWER_TIMEOUT_MS })
}

/** Asserts that the reply says when to try again. */
export function expectUnavailable(reply: RawExchange): void {
  expectProblem(reply, { status: 503, code: 'unavailable' })
  expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0)
}
