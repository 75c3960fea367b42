import { leastRole } from '../../../src/http/admin/operator-auth.ts'
import type { ApiDescription } from './document.ts'

export const ADMIN_API = {
  title: 'Cloud Repository: administration',
  description:
    'This API manages users, their access tokens, their devices and other grants. Requests except probes need a ' +
    'bearer token: the `ADMIN_TOKEN`, or that of an operator, whose role permits reading and what it says. The web page of this listener sends a session cookie instead.\n\n' +
    'Request bodies are JSON in UTF-8 of at most 16 KiB. Values are not coerced, and unknown members are refused. ' +
    'Every `PUT` and `DELETE` is safe to repeat. Every refusal is a problem document (RFC 9457) with a `code`.',
  credentials: {
    admin_token: {
      type: 'http',
      scheme: 'bearer',
      description: 'The `ADMIN_TOKEN` of the deployment, or the token of an operator.',
    },
  },
  tags: [
    {
      name: 'users',
      description: 'Create, list, suspend and delete users. Each user has one repository.',
    },
    { name: 'access tokens', description: 'Issue, list and revoke access tokens of users.' },
    { name: 'devices', description: 'Add, list and remove devices. Each device adds capacity.' },
    { name: 'grants', description: 'Grant capacity for other reasons.' },
    { name: 'uploads', description: 'List and cancel the unfinished resumable uploads of users.' },
    { name: 'files', description: 'List, delete and export the files of users.' },
    { name: 'history', description: 'List and restore replaced and deleted files of users.' },
    { name: 'overview', description: 'The figures of the whole service.' },
    {
      name: 'links',
      description: 'List and revoke the links of users for people without an account.',
    },
    { name: 'operators', description: 'Add, list and remove operators.' },
    { name: 'audit', description: 'What operators did.' },
    { name: 'webhooks', description: 'Events that could not be delivered.' },
    { name: 'session', description: 'Sign in from the page of this listener.' },
    { name: 'health', description: 'Liveness and readiness probes.' },
    { name: 'about', description: 'The description of this API.' },
  ],
  roleOf: leastRole,
  problems: {
    credentials: [],
    required: ['unauthorized', 'cross_site_request'],
    write: ['cross_site_request', 'insufficient_storage'],
  },
} as const satisfies Omit<ApiDescription, 'version'>
