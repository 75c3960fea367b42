import type { FastifyContextConfig } from 'fastify'
import type { Answer, Operation, Schemas } from '../../openapi/operation.ts'
import { FILE_NAME, PRECONDITIONS, USER_ID } from '../../openapi/parameters.ts'

const CONDITIONS = {
  ...PRECONDITIONS,
  'If-Modified-Since': {
    type: 'string',
    description:
      'Only if the file has changed since, else 304. What is no HTTP date is no condition.',
  },
  Range: {
    type: 'string',
    description:
      'One range of bytes: first and last, from a first one, or the last so many. Anything else gets the whole file.',
    examples: ['bytes=0-1023'],
  },
  'If-Range': {
    type: 'string',
    description: 'The range only if the file is of this entity-tag, else the whole file.',
  },
  'Want-Repr-Digest': {
    type: 'string',
    description: '`sha-256=1` asks for `Repr-Digest` (RFC 9530).',
    examples: ['sha-256=1'],
  },
} as const satisfies Schemas

const VALIDATORS = ['ETag', 'Last-Modified', 'Cache-Control'] as const

const CONTENT = {
  headers: [...VALIDATORS, 'Accept-Ranges', 'Content-Disposition', 'Repr-Digest'],
  content: { 'application/octet-stream': {} },
} as const satisfies Partial<Answer>

const DOWNLOAD = {
  tag: 'files',
  responses: {
    200: { ...CONTENT, description: 'The content, byte for byte.' },
    206: {
      ...CONTENT,
      headers: [...CONTENT.headers, 'Content-Range'],
      description: 'The range of it that was asked for.',
    },
    304: { headers: VALIDATORS, description: 'The client has it already.' },
  },
  credentials: 'optional',
  problems: ['not_found', 'range_not_satisfiable'],
} as const satisfies Partial<Operation>

export const DOWNLOADS = {
  operation: [
    {
      ...DOWNLOAD,
      operationId: 'downloadOwnFile',
      summary: 'Download an own file, or a range of it',
      path: '/users/me/repo/{file_name}',
      description: 'Without a token there is no `me`: 403 `access_token_missing`.',
      parameters: { path: { file_name: FILE_NAME }, header: CONDITIONS },
      problems: [...DOWNLOAD.problems, 'access_token_missing'],
    },
    {
      ...DOWNLOAD,
      operationId: 'downloadFile',
      summary: "Download a user's file, or a range of it",
      description:
        'What the caller may not see answers the same 404 as what is not there. A token that is sent has to be valid.',
      parameters: { path: { user_id: USER_ID, file_name: FILE_NAME }, header: CONDITIONS },
    },
  ],
} as const satisfies FastifyContextConfig
