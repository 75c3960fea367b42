import type { UserId } from '../../core/users/user-id.ts'
import type { ApiDescription } from '../openapi/document.ts'
import { REFERENCE_PATTERN } from '../../core/quota/grants.ts'
import { USER_ID } from '../openapi/parameters.ts'
import { Type } from '../openapi/type.ts'

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
  problems: { credentials: [], required: ['unauthorized'], write: ['cross_site_request'] },
} as const satisfies ApiDescription

export const NO_QUERY = Type.Object({}, { additionalProperties: false })

export const OF_USER = {
  params: Type.Object({ user_id: Type.Unsafe<UserId>(USER_ID) }),
  querystring: NO_QUERY,
} as const

export const REFERENCE = { type: 'string', pattern: REFERENCE_PATTERN } as const
