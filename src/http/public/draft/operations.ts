import type { FastifyContextConfig } from 'fastify'
import type { Answer, Schemas } from '../../openapi/operation.ts'
import { FILE_NAME } from '../../openapi/parameters.ts'
import { UploadedFile } from '../files/file-upload.ts'
import { PARTIAL_MEDIA_TYPE } from './draft-headers.ts'

export const DRAFT_VERSION = {
  'Upload-Draft-Interop-Version': {
    type: 'string',
    const: '8',
    description: 'Announces a request by the IETF draft "Resumable Uploads for HTTP".',
  },
} as const satisfies Schemas

const CONTENT_HEADERS = {
  ...DRAFT_VERSION,
  'Upload-Complete': {
    type: 'string',
    enum: ['?0', '?1'],
    description: 'IETF draft: `?1` if the content ends the file.',
  },
  'Content-Digest': {
    type: 'string',
    description: 'IETF draft: the digest of this content (RFC 9530). Only SHA-256 is checked.',
  },
} as const satisfies Schemas

export const DRAFT_CREATION = {
  header: {
    ...CONTENT_HEADERS,
    'Upload-Length': {
      type: 'integer',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'IETF draft: the size of the whole file in bytes.',
    },
  },
  response: {
    description: 'IETF draft: the upload exists; its URL is in `Location`.',
    headers: ['Location', 'Upload-Offset', 'Upload-Complete', 'Upload-Limit'],
  },
  problems: ['unfinished_uploads_exceeded', 'upload_gone', 'offset_mismatch'],
} as const satisfies { header: Schemas; response: Answer; problems: readonly string[] }

export const DRAFT_APPEND = {
  header: CONTENT_HEADERS,
  content: { [PARTIAL_MEDIA_TYPE]: { schema: { type: 'string', format: 'binary' } } },
  response: {
    description: 'IETF draft: the append has ended the file, which is stored.',
    headers: ['Upload-Complete', 'Repr-Digest', 'ETag', 'Cache-Control', 'Content-Encoding'],
    content: { 'application/json': { schema: UploadedFile } },
  },
} as const satisfies { header: Schemas; content: object; response: Answer }

export const DRAFT_OFFSET = {
  description: 'IETF draft: the next append starts at `Upload-Offset`.',
  headers: ['Upload-Offset', 'Upload-Complete', 'Upload-Length', 'Upload-Limit', 'Cache-Control'],
} as const satisfies Answer

export const DISCOVER = {
  preflightMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  operation: {
    tag: 'files',
    operationId: 'describeFileUpload',
    summary: 'Ask whether uploads to this path can be resumed',
    credentials: 'optional',
    parameters: { path: { file_name: FILE_NAME } },
    responses: {
      204: {
        description: 'They can, by the IETF draft "Resumable Uploads for HTTP".',
        headers: ['Upload-Limit', 'Accept-Patch'],
      },
    },
    problems: ['invalid_file_name'],
  },
} as const satisfies FastifyContextConfig
