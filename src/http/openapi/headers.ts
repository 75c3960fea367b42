import { type Json, mapMembers } from './json.ts'

const DESCRIBED = {
  'X-Request-Id': {
    description: 'Finds the request in the log of the service.',
    schema: { type: 'string', format: 'uuid' },
    example: '6f1c1c0e-52c4-4f0e-9d0b-3a7d5f4f2a11',
  },
  ETag: {
    description:
      'Names this version of the content, in double quotes; for `If-Match`, `If-None-Match` and `If-Range`.',
    schema: { type: 'string', pattern: '^"[!#-~]+"$' },
    example: '"019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a"',
  },
  'Last-Modified': {
    description: 'When the file was last written or changed.',
    schema: { type: 'string' },
    example: 'Sat, 21 Nov 2026 12:00:00 GMT',
  },
  'Accept-Ranges': {
    description: 'One range of bytes can be asked for.',
    schema: { type: 'string', const: 'bytes' },
  },
  'Content-Range': {
    description:
      'Which bytes these are, first and last, and of how many; of a 416 only of how many.',
    schema: { type: 'string', pattern: '^bytes (\\d+-\\d+|\\*)/\\d+$' },
    example: 'bytes 0-1023/6143',
  },
  'Content-Disposition': {
    description: 'Always an attachment, with the name of the file (RFC 6266).',
    schema: { type: 'string', pattern: '^attachment; filename' },
    example: 'attachment; filename="README.md"',
  },
  'Repr-Digest': {
    description: 'The SHA-256 of the whole file (RFC 9530), when `Want-Repr-Digest` asked for it.',
    required: false,
    schema: { type: 'string', pattern: '^sha-256=:[A-Za-z0-9+/]{43}=:$' },
    example: 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:',
  },
  'Cache-Control': {
    description: 'Who may keep the answer: a cache asks again before each use, or keeps none.',
    schema: { type: 'string', enum: ['private, no-cache', 'no-store'] },
    example: 'private, no-cache',
  },
  'Retry-After': {
    description: 'Seconds after which the request can be sent again.',
    schema: { type: 'integer', minimum: 0 },
    example: 5,
  },
  'Set-Cookie': {
    description:
      'The cookie of the session: HttpOnly, and SameSite=Strict; over HTTPS and without a base path with `__Host-` before its ' +
      'name. Others of its names, at other paths, are expired.',
    schema: { type: 'string', pattern: '^(__Host-)?(access_token|admin_session)=' },
    example: 'access_token=crt_...; Max-Age=86400; Path=/; HttpOnly; SameSite=Strict',
  },
  'WWW-Authenticate': {
    description: 'The scheme of the token that is asked for.',
    schema: { type: 'string' },
    example: 'Bearer',
  },
} as const satisfies Record<string, Json>

export type HeaderName = keyof typeof DESCRIBED

export const HEADERS = mapMembers<Json>(
  DESCRIBED,
  ({ description, required = true, ...header }) => ({
    description,
    required,
    ...header,
  }),
)

export function headerRefs(names: readonly HeaderName[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
