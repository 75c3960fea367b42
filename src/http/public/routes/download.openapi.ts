import type { FastifyContextConfig } from 'fastify'
import type { Answer, Operation, Parameter } from '../../openapi/operation.ts'
import { FILE_NAME, PRECONDITIONS, USER_ID } from '../../openapi/parameters.ts'
import { ALWAYS, TOKEN } from '../../openapi/problem-responses.ts'

const CONDITIONS: readonly Parameter[] = [
  ...PRECONDITIONS,
  {
    name: 'If-Modified-Since',
    in: 'header',
    description:
      'Only if the file has changed since, else 304. What is no HTTP date is no condition.',
    schema: { type: 'string' },
  },
  {
    name: 'Range',
    in: 'header',
    description:
      'One range of bytes: first and last, from a first one, or the last so many. Anything else gets the whole file.',
    schema: { type: 'string' },
    example: 'bytes=0-1023',
  },
  {
    name: 'If-Range',
    in: 'header',
    description: 'The range only if the file is of this entity-tag, else the whole file.',
    schema: { type: 'string' },
  },
  {
    name: 'Want-Repr-Digest',
    in: 'header',
    description: '`sha-256=1` asks for `Repr-Digest` (RFC 9530).',
    schema: { type: 'string' },
    example: 'sha-256=1',
  },
]

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
  problems: [
    ...ALWAYS,
    ...TOKEN,
    'invalid_file_name',
    'not_found',
    'precondition_failed',
    'range_not_satisfiable',
  ],
} as const satisfies Partial<Operation>

export const DOWNLOADS = {
  operation: [
    {
      ...DOWNLOAD,
      operationId: 'downloadOwnFile',
      summary: 'Download an own file, or a range of it',
      path: '/users/me/repo/{file_name}',
      description: 'Without a token there is no `me`: 403 `access_token_missing`.',
      credentials: 'optional',
      parameters: [FILE_NAME, ...CONDITIONS],
      problems: [...DOWNLOAD.problems, 'access_token_missing'],
    },
    {
      ...DOWNLOAD,
      operationId: 'downloadFile',
      summary: "Download a user's file, or a range of it",
      description:
        'What the caller may not see answers the same 404 as what is not there. A token that is sent has to be valid.',
      credentials: 'optional',
      parameters: [USER_ID, FILE_NAME, ...CONDITIONS],
    },
  ],
} as const satisfies FastifyContextConfig
