import type { Json } from '../../../src/http/openapi/operation.ts'
import { mapMembers } from './members.ts'

const DESCRIBED = {
  'X-Request-Id': {
    description: 'Identifies the request in the log of the service.',
    schema: { type: 'string', format: 'uuid' },
    example: '6f1c1c0e-52c4-4f0e-9d0b-3a7d5f4f2a11',
  },
  ETag: {
    description:
      'The entity tag of this version of the content, in double quotes, for `If-Match`, `If-None-Match` and ' +
      '`If-Range`.',
    schema: { type: 'string', pattern: '^"[!#-~]+"$' },
    example: '"019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a"',
  },
  'Last-Modified': {
    description: 'When the file was last written or changed.',
    schema: { type: 'string' },
    example: 'Sat, 21 Nov 2026 12:00:00 GMT',
  },
  'Accept-Ranges': {
    description: 'Requests may ask for one byte range.',
    schema: { type: 'string', const: 'bytes' },
  },
  'Content-Range': {
    description:
      'The first and last byte of the range, and the size of the file. With status 416, only the size.',
    schema: { type: 'string', pattern: '^bytes (\\d+-\\d+|\\*)/\\d+$' },
    example: 'bytes 0-1023/6143',
  },
  'Content-Disposition': {
    description:
      'The file name (RFC 6266), after `attachment`, or after `inline` if the content is shown.',
    schema: { type: 'string', pattern: '^(attachment|inline); filename' },
    example: 'attachment; filename="README.md"',
  },
  'Repr-Digest': {
    description: 'The SHA-256 of the whole file (RFC 9530), if `Want-Repr-Digest` requested it.',
    required: false,
    schema: { type: 'string', pattern: '^sha-256=:[A-Za-z0-9+/]{43}=:$' },
    example: 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:',
  },
  'Cache-Control': {
    description:
      '`private, no-cache`: only a private cache may store the response, and must revalidate it before each use. ' +
      '`no-transform`: no proxy may compress it. `no-store`: no cache may store it.',
    schema: {
      type: 'string',
      enum: ['private, no-cache', 'private, no-cache, no-transform', 'no-store'],
    },
    example: 'private, no-cache, no-transform',
  },
  'Content-Encoding': {
    description: '`identity`: no coding. A proxy that compresses responses leaves this one alone.',
    schema: { type: 'string', const: 'identity' },
  },
  'Retry-After': {
    description: 'Seconds to wait before sending the request again.',
    schema: { type: 'integer', minimum: 0 },
    example: 5,
  },
  Location: {
    description: 'The created resource, or the URL that has the content.',
    schema: { type: 'string', format: 'uri-reference' },
    example: '/users/me/uploads/019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a',
  },
  'Tus-Resumable': {
    description: 'The version of the tus protocol.',
    schema: { type: 'string', const: '1.0.0' },
  },
  'Tus-Version': {
    description: 'The supported versions of the tus protocol.',
    schema: { type: 'string' },
    example: '1.0.0',
  },
  'Tus-Extension': {
    description: 'The supported extensions of the tus protocol.',
    schema: { type: 'string' },
    example: 'creation,expiration',
  },
  'Tus-Max-Size': {
    description: 'Maximum size of a file in bytes.',
    schema: { type: 'integer', minimum: 0 },
    example: 5_368_709_120,
  },
  'Tus-Checksum-Algorithm': {
    description: 'The supported algorithms of `Upload-Checksum`.',
    schema: { type: 'string' },
    example: 'sha1,sha256',
  },
  'Upload-Offset': {
    description: 'Number of durable bytes: the next append begins here.',
    required: false,
    schema: { type: 'integer', minimum: 0 },
    example: 73_400_320,
  },
  'Upload-Length': {
    description: 'Size of the whole file in bytes; absent while it is deferred.',
    required: false,
    schema: { type: 'integer', minimum: 0 },
    example: 1_073_741_824,
  },
  'Upload-Metadata': {
    description: 'The metadata as sent with the creation.',
    required: false,
    schema: { type: 'string' },
    example: 'filename aGVsbG8udHh0',
  },
  'Upload-Expires': {
    description: 'When the upload expires unless more bytes arrive.',
    required: false,
    schema: { type: 'string' },
    example: 'Sun, 22 Nov 2026 12:00:00 GMT',
  },
  'Set-Cookie': {
    description:
      'The session cookie, with `HttpOnly` and `SameSite=Strict`. Over HTTPS and without a base path, its name has ' +
      'the prefix `__Host-`. The response also expires session cookies with another name or path.',
    schema: { type: 'string', pattern: '^((__Host-)?(access_token|admin_session)|link_key)=' },
    example: 'access_token=crt_...; Max-Age=86400; Path=/; HttpOnly; SameSite=Strict',
  },
  'WWW-Authenticate': {
    description: 'The authentication scheme that the request must use.',
    schema: { type: 'string' },
    example: 'Bearer',
  },
} as const satisfies Record<string, Json>

export const HEADERS = mapMembers<Json>(
  DESCRIBED,
  ({ description, required = true, ...header }) => ({
    description,
    required,
    ...header,
  }),
)

/** Throws for a name without a description. */
export function headerRefs(names: readonly string[]): Json {
  const unknown = names.filter((name) => !(name in HEADERS))
  if (unknown.length > 0) throw new Error(`no description of the header ${unknown.join(', ')}`)
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
