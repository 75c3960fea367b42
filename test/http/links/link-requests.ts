import { expect } from 'vitest'
import type { TestService } from '../../support/service/test-service.ts'
import { problemOf, send } from '../scopes/scoped-requests.ts'

export interface Made {
  readonly link_id: string
  readonly url: string
  readonly secret: string
  readonly uses_left: number | null
  readonly created_at: string
  readonly expires_at: string | null
}

export const JSON_TYPE = { 'Content-Type': 'application/json' }

/** Creates a link with a token. */
export async function createLink(
  service: TestService,
  {
    token,
    ...terms
  }: { readonly token: string; readonly kind: string; readonly [term: string]: unknown },
): Promise<Made> {
  const body = JSON.stringify(terms)
  const response = await send(service, {
    token,
    method: 'POST',
    path: '/users/me/links',
    headers: JSON_TYPE,
    body,
  })
  expect({ status: response.status, problem: await problemOf(response.clone()) }).toEqual({
    status: 201,
  })
  return (await response.json()) as Made
}

/** Sends a request as a visitor: without a token. */
export function visit(
  { url }: TestService,
  { secret, path = '', ...init }: RequestInit & { readonly secret: string; readonly path?: string },
): Promise<Response> {
  return fetch(`${url}/links/${secret}${path}`, { redirect: 'manual', ...init })
}

export function basic(password: string): { readonly Authorization: string } {
  return { Authorization: `Basic ${Buffer.from(`anyone:${password}`).toString('base64')}` }
}
