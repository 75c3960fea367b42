import type { ApiDescription } from '../openapi/document.ts'
import { TOKEN } from '../openapi/problem-responses.ts'

export const PUBLIC_API = {
  title: 'Cloud Repository',
  description:
    "A cloud repository for each user's files, with a capacity in bytes that grows with the user's devices.\n\n" +
    'Every refusal is a problem document (RFC 9457) whose `code` says which of several causes of a status it was. A ' +
    'method that a path does not have is 405 `method_not_allowed`, with `Allow`; a path that is not here is 404 ' +
    '`not_found`. Sizes are bytes, times RFC 3339 in UTC.',
  credentials: [
    'access_token',
    {
      type: 'apiKey',
      in: 'cookie',
      name: 'access_token',
      description:
        "An access token of a user, or a JWT of the deployment's identity provider. Two different ones are refused. " +
        'The cookie `__Host-access_token` is read as well, and over HTTPS before it.',
    },
  ],
  tags: [
    { name: 'files', description: 'Upload, download, list, change and delete files.' },
    { name: 'capacity', description: 'How much room there is, and why.' },
    { name: 'session', description: 'For the page of the service itself.' },
    { name: 'health', description: 'For probes.' },
    { name: 'about', description: 'The API itself.' },
  ],
  problems: {
    credentials: TOKEN,
    required: ['access_token_missing'],
    write: ['cross_site_request', 'truncated_body'],
  },
} as const satisfies Omit<ApiDescription, 'basePath'>
