import type { ApiDescription } from './document.ts'

export const PUBLIC_API = {
  title: 'Cloud Repository',
  description:
    'Every user has a file repository. Its capacity in bytes grows with the devices of the user.\n\n' +
    'Every refusal is a problem document (RFC 9457) whose `code` identifies the cause. A method that a path does not ' +
    'support gets 405 `method_not_allowed` with `Allow`. An unknown path gets 404 `not_found`.\n\n' +
    'Sizes are in bytes. Times are RFC 3339 in UTC.',
  credentials: {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description:
        "An access token of a user, or a JWT of the deployment's identity provider. A request that also has a " +
        'different token in a cookie is refused.',
    },
    access_token: {
      type: 'apiKey',
      in: 'cookie',
      name: 'access_token',
      description:
        'The access token as a cookie, for web pages. The cookie `__Host-access_token` is also read, and takes ' +
        'precedence over HTTPS.',
    },
  },
  tags: [
    { name: 'files', description: 'Upload, download, list, change and delete files.' },
    {
      name: 'uploads',
      description:
        'Upload large files in several requests with tus 1.0, and continue after a lost connection.',
    },
    { name: 'history', description: 'List, download and restore replaced and deleted files.' },
    { name: 'changes', description: 'Follow the changes of files and capacity.' },
    { name: 'capacity', description: 'Query the capacity and the grants that make it up.' },
    { name: 'access tokens', description: 'Make, list and revoke narrower access tokens.' },
    {
      name: 'links',
      description: 'Give files to people without an account, or take files from them.',
    },
    {
      name: 'session',
      description:
        'Sign in and out on the web page of the service, and see what an access token permits.',
    },
    { name: 'health', description: 'Liveness and readiness probes.' },
    { name: 'about', description: 'The description of this API.' },
  ],
  problems: {
    // Any request can be the first one of a user with a JWT, who is then created.
    credentials: [
      'access_token_invalid',
      'user_suspended',
      'scope_insufficient',
      'insufficient_storage',
    ],
    required: ['access_token_missing'],
    write: ['cross_site_request', 'truncated_body', 'insufficient_storage'],
  },
} as const satisfies Omit<ApiDescription, 'version'>
