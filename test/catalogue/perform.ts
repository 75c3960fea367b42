import { once } from 'node:events'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { WEBHOOK_EVENTS } from '../../src/core/webhooks/webhook-events.ts'
import type { PageFile } from '../../src/http/pages/static-assets.ts'
import { ADMIN_OPTIONS, ADMIN_TOKEN } from '../http/admin/fixture.ts'
import type { Reply } from '../http/fixture.ts'
import { NO_BUILD } from '../support/http/page.ts'
import { bytesOf } from '../support/objects.ts'
import type { TestService, TestServiceOptions } from '../support/service/test-service.ts'
import type { Listener } from './api-operations.ts'
import type { Sent } from './operation.ts'
import type { Scene } from './scene.ts'

const CONTENT = { bytes: Buffer.from('<!doctype html>'), etag: 'docs' }

const DOCS: PageFile = {
  type: 'text/html; charset=utf-8',
  contents: new Map([
    ['br', CONTENT],
    ['gzip', CONTENT],
    ['identity', CONTENT],
  ]),
}

/** Options of a service that has all operations. Its webhooks go nowhere unless a test names a receiver. */
export const EVERY_OPERATION = {
  ...ADMIN_OPTIONS,
  page: NO_BUILD,
  operatorPage: NO_BUILD,
  docs: DOCS,
  adminDocs: DOCS,
  historyLifetimeMs: 3_600_000,
  webhooks: {
    url: 'http://127.0.0.1:9/hooks',
    secrets: [Buffer.alloc(32)],
    events: new Set(WEBHOOK_EVENTS),
  },
} as const satisfies TestServiceOptions

/** Sends a request as it stands. */
export async function perform(
  service: TestService,
  listener: Listener,
  { method = 'GET', path, headers = {}, body }: Sent,
): Promise<Reply> {
  const request = httpRequest({
    host: '127.0.0.1',
    port: listener === 'public' ? service.port : service.adminPort,
    method,
    path,
    headers: { ...lengthOf(method, body), ...headers },
    agent: false,
  })
  request.end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return {
    status: response.statusCode ?? 0,
    headers: response.headers as Record<string, string>,
    body: await bytesOf(response),
  }
}

/** The request with the credentials of the scene's user, or of the operator. */
export function authorized(listener: Listener, sent: Sent, { token }: Pick<Scene, 'token'>): Sent {
  const secret = listener === 'public' ? token : ADMIN_TOKEN
  return { ...sent, headers: { ...sent.headers, Authorization: `Bearer ${secret}` } }
}

/** Of a write also without a body, which Node would send in chunks. */
function lengthOf(method: string, body: string | undefined) {
  const isRead = ['GET', 'HEAD', 'OPTIONS'].includes(method)
  return body === undefined && isRead ? {} : { 'Content-Length': Buffer.byteLength(body ?? '') }
}
