import { DEFAULT_MEDIA_TYPE, INLINE_TYPES } from '../../../core/files/media-type.ts'
import { BINARY, type Answer, type Operation, type Schemas } from '../../openapi/operation.ts'
import { FILE_NAME, PRECONDITIONS, USER_ID } from '../../openapi/parameters.ts'

export const CONDITIONS = {
  ...PRECONDITIONS,
  'If-Modified-Since': {
    type: 'string',
    description:
      'Succeeds only if the file has changed since this time, otherwise 304. A value that is not an HTTP date is ' +
      'ignored.',
  },
  Range: {
    type: 'string',
    description:
      'One byte range: `bytes=first-last`, `bytes=first-` or `bytes=-count`. Any other value gets the whole file.',
    examples: ['bytes=0-1023'],
  },
  'If-Range': {
    type: 'string',
    description: 'Sends the range only if the file has this entity tag, otherwise the whole file.',
  },
  'Want-Repr-Digest': {
    type: 'string',
    description: '`sha-256=1` requests `Repr-Digest` (RFC 9530).',
    examples: ['sha-256=1'],
  },
} as const satisfies Schemas

const VALIDATORS = ['ETag', 'Last-Modified', 'Cache-Control'] as const

const CONTENT = {
  headers: [...VALIDATORS, 'Accept-Ranges', 'Content-Disposition', 'Repr-Digest'],
  content: Object.fromEntries([DEFAULT_MEDIA_TYPE, ...INLINE_TYPES].map((type) => [type, BINARY])),
} as const satisfies Partial<Answer>

export const CONTENT_RESPONSES = {
  200: { ...CONTENT, description: 'The content of the file.' },
  206: {
    ...CONTENT,
    headers: [...CONTENT.headers, 'Content-Range'],
    description: 'The requested range of the content.',
  },
  304: { headers: VALIDATORS, description: 'The client already has this version.' },
} as const satisfies Operation['responses']

/** Of contents that the service may redirect to the object store. */
export const REDIRECTED_RESPONSES = {
  ...CONTENT_RESPONSES,
  307: {
    headers: ['Location', 'Cache-Control'],
    description:
      'Only with the setting `DOWNLOAD_REDIRECT_ABOVE`: the object store has the content at this URL, for one minute. Send ' +
      '`Range` there again, but no token.',
  },
} as const satisfies Operation['responses']

const DOWNLOAD = {
  tag: 'files',
  responses: REDIRECTED_RESPONSES,
  credentials: 'optional',
  problems: ['not_found', 'range_not_satisfiable'],
} as const satisfies Partial<Operation>

export const DOWNLOADS = [
  {
    ...DOWNLOAD,
    operationId: 'downloadFile',
    summary: "Download one of the caller's files, or a range of it",
    path: '/users/me/repo/{file_name}',
    description: 'A request without a token gets 403 `access_token_missing`.',
    parameters: { path: { file_name: FILE_NAME }, header: CONDITIONS },
    problems: [...DOWNLOAD.problems, 'access_token_missing'],
  },
  {
    ...DOWNLOAD,
    operationId: 'downloadUserFile',
    summary: "Download a user's file, or a range of it",
    description:
      'A file that the caller may not see gets the same 404 as one that does not exist. A token is optional, ' +
      'but must be valid if it is sent.',
    parameters: { path: { user_id: USER_ID, file_name: FILE_NAME }, header: CONDITIONS },
  },
] as const satisfies readonly Operation[]
