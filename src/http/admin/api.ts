import type { ApiDescription } from '../openapi/document.ts'
import type { Operation, Parameter } from '../openapi/operation.ts'
import { ALWAYS } from '../openapi/problem-responses.ts'

/** What the OpenAPI document of the admin listener says of it as a whole. */
export const ADMIN_API = {
  title: 'Cloud Repository: administration',
  description:
    'Users, their access tokens, their devices and other grants. Every request but a probe shows the bearer token; the page ' +
    'of this listener shows the cookie of a session. Bodies are JSON in ' +
    'UTF-8 of at most 16 KiB; nothing in them is coerced, nothing unknown ignored. Every `PUT` and `DELETE` can be ' +
    'repeated safely. Every refusal is a problem document (RFC 9457) with a `code`.',
  basePath: '',
  credentials: [
    'admin_token',
    { type: 'http', scheme: 'bearer', description: 'The `ADMIN_TOKEN` of the deployment.' },
  ],
  tags: [
    { name: 'users', description: 'Who has a repository.' },
    { name: 'access tokens', description: 'What users prove themselves with.' },
    { name: 'devices', description: 'Each is a grant of capacity.' },
    { name: 'grants', description: 'Any other reason for capacity.' },
    { name: 'session', description: 'How the page of this listener signs in.' },
    { name: 'health', description: 'Probes.' },
    { name: 'about', description: 'The API itself.' },
  ],
} as const satisfies ApiDescription

/** What any call can be refused with. */
export const ANY_CALL = [...ALWAYS, 'unauthorized'] as const satisfies Operation['problems']

/** What a call that changes something can: `cross_site_request` where a session is shown. */
export const ANY_WRITE = [
  ...ANY_CALL,
  'cross_site_request',
] as const satisfies Operation['problems']

/** The reference of a grant, or the id of a device, which is one. */
export const REFERENCE_SCHEMA = { type: 'string', pattern: '^[A-Za-z0-9._:@-]{1,128}$' } as const

/** One of the sources that grants can be made for by hand. */
export const SOURCE: Parameter = {
  name: 'source',
  in: 'path',
  description:
    'Where the grant came from: 1 to 32 of `a-z 0-9 _ -`, a letter first, not `base` or `device`.',
  schema: { type: 'string', pattern: '^(?!(base|device)$)[a-z][a-z0-9_-]{0,31}$' },
  example: 'promotion',
}

export const REFERENCE: Parameter = {
  name: 'reference',
  in: 'path',
  description: 'Unique among the grants of that source: 1 to 128 of `A-Z a-z 0-9 . _ : @ -`.',
  schema: REFERENCE_SCHEMA,
  example: 'spring-2027',
}

export const DEVICE_ID: Parameter = {
  name: 'device_id',
  in: 'path',
  description: 'The id of a device: 1 to 128 of `A-Z a-z 0-9 . _ : @ -`.',
  schema: REFERENCE_SCHEMA,
  example: 'camera-17',
}

export const TOKEN_ID: Parameter = {
  name: 'token_id',
  in: 'path',
  description: 'The id of an access token, which is not its secret.',
  schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
}
