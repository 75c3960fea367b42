import type { FastifyContextConfig } from 'fastify'
import { VISIBILITIES } from '../../../core/files/file.ts'
import { MAX_FIELD_BYTES, MAX_FIELDS } from '../../multipart/form-parser.ts'
import type { Operation } from '../../openapi/operation.ts'
import { FILE_NAME, PRECONDITIONS } from '../../openapi/parameters.ts'

const VISIBILITY = {
  type: 'string',
  enum: VISIBILITIES,
  description: 'Who may read the file. A new one is `private`; one that is replaced keeps its own.',
} as const

const REPR_DIGEST = {
  type: 'string',
  pattern: '^sha-256=:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=:$',
  description:
    'SHA-256 of the file (RFC 9530), checked before the file becomes visible. Other algorithms are not looked at.',
  examples: ['sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:'],
} as const

const UPLOAD = {
  tag: 'files',
  parameters: {
    path: { file_name: FILE_NAME },
    query: { visibility: VISIBILITY },
    header: { ...PRECONDITIONS, 'Repr-Digest': REPR_DIGEST },
  },
  problems: [
    'digest_mismatch',
    'capacity_exceeded',
    'file_count_exceeded',
    'file_too_large',
    'insufficient_storage',
  ],
} as const satisfies Partial<Operation>

const STORED = {
  description: 'The file is stored and replaces the one of that name, if there was one.',
  example: {
    replaced: false,
    capacity: { capacity: 1_073_741_824, used: 6143, reserved: 0, available: 1_073_735_681 },
  },
} as const

export const FORM_UPLOAD = {
  operation: {
    ...UPLOAD,
    operationId: 'uploadFile',
    summary: 'Upload a file in a form',
    description:
      'A file that would not fit into the capacity, or a repository that is full, is 403. Of several causes the first of ' +
      'these is told: another site, the access token, the name, the form, the preconditions, the largest file, the ' +
      'uploads under way, what is kept of replaced and deleted files, the number of files, the capacity. Safe to repeat.',
    requestBody: {
      required: true,
      content: {
        'multipart/form-data': {
          schema: {
            type: 'object',
            required: ['file'],
            maxProperties: MAX_FIELDS + 1,
            additionalProperties: { type: 'string', maxLength: MAX_FIELD_BYTES },
            properties: {
              visibility: VISIBILITY,
              file: {
                type: 'string',
                format: 'binary',
                contentMediaType: 'application/octet-stream',
                description:
                  'The content, in one part with a `filename` parameter, whose value is ignored. Of other parts there are ' +
                  'at most 8, of 4 KiB each and 64 KiB together; but for `visibility` they are ignored.',
              },
            },
          },
          encoding: { file: { contentType: 'application/octet-stream' } },
        },
      },
    },
    responses: { 200: STORED },
    problems: [...UPLOAD.problems, 'missing_file_part', 'multiple_file_parts'],
  },
} as const satisfies FastifyContextConfig

export const RAW_UPLOAD = {
  operation: {
    ...UPLOAD,
    operationId: 'putFile',
    summary: 'Upload a file as the body',
    description:
      'The body is the file, byte for byte, whatever `Content-Type` it has. Safe to repeat.',
    requestBody: {
      description: 'The content. None at all makes an empty file.',
      required: false,
      content: { 'application/octet-stream': {} },
    },
    responses: { 200: { ...STORED, headers: ['ETag'] } },
  },
} as const satisfies FastifyContextConfig
