import type { Operation, Schemas } from '../../openapi/operation.ts'
import { FILE_NAME } from '../../openapi/parameters.ts'
import { Bytes, EXAMPLE_SHA256, Text } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { formBody, RAW_UPLOAD, REPR_DIGEST } from '../../routes/files/upload.openapi.ts'
import * as operations from '../../routes/uploads/operations.ts'
import { LINK_SECRET, ofLinks } from './link-resource.ts'
import { toldOnDrop } from './visitor-problems.ts'

const DroppedFile = Type.Object(
  {
    name: Text('The name of the file, without the prefix of the link.', 'report.pdf'),
    size: Bytes('Size of the content, in bytes.', 6143),
    sha256: Text('SHA-256 of the content, in lower-case hexadecimal.', EXAMPLE_SHA256),
  },
  { title: 'DroppedFile', description: 'The stored file.' },
)

const PATH = { secret: LINK_SECRET, file_name: FILE_NAME }

const DROP_PROBLEMS = [
  'not_found',
  'link_password_required',
  'file_exists',
  'file_too_large',
  'digest_mismatch',
  'capacity_exceeded',
  'link_limit_exceeded',
] as const

const DROP = {
  description:
    'Never replaces a file. Queries and fields for the visibility or expiry of the file are ignored.',
  parameters: { path: PATH, header: { 'Repr-Digest': REPR_DIGEST } },
  response: { 200: DroppedFile },
  responses: { 200: { description: 'The file is stored.' } },
} as const

export const DROP_FORM = ofLinks({
  ...DROP,
  operationId: 'dropFileForm',
  summary: 'Send a file by a drop link, as a form',
  requestBody: formBody(
    {},
    'The content, in one part with a `filename` parameter, whose value is ignored.',
  ),
  problems: [...DROP_PROBLEMS, 'missing_file_part', 'multiple_file_parts'],
})

export const DROP_BODY = ofLinks({
  ...DROP,
  operationId: 'dropFile',
  summary: 'Send a file by a drop link, as the body',
  requestBody: RAW_UPLOAD.requestBody,
  problems: DROP_PROBLEMS,
})

/** An operation on an own upload, as it is on a drop. */
function ofDrop(
  own: Operation,
  drop: Pick<Operation, 'operationId' | 'summary' | 'description'> & { readonly header?: Schemas },
): Operation {
  const { header, ...described } = drop
  const { requestBody, responses, problems = [] } = own
  return {
    tag: 'links',
    credentials: 'none',
    parameters: {
      path: { secret: LINK_SECRET, upload_id: operations.UPLOAD_ID_PARAM },
      header: { 'Tus-Resumable': operations.TUS_RESUMABLE, ...header },
    },
    ...(requestBody && { requestBody }),
    responses,
    problems: [
      'not_found',
      'link_password_required',
      'link_limit_exceeded',
      ...toldOnDrop(problems),
    ],
    ...described,
  }
}

const CREATE: Operation = {
  ...ofDrop(operations.CREATE, {
    operationId: 'createDropUpload',
    summary: 'Create a resumable upload by a drop link',
    description:
      'As `POST /users/me/uploads`. The key `filename` of `Upload-Metadata` is the name without the prefix of the link. ' +
      'Preconditions, `visibility` and `metadata` are ignored.',
  }),
  parameters: { path: { secret: LINK_SECRET }, header: operations.CREATE_HEADERS },
}

const OFFSET = ofDrop(operations.OFFSET, {
  operationId: 'getDropUploadOffset',
  summary: 'Get the offset at which to continue a drop',
  description: operations.OFFSET.description,
  header: { 'Tus-Resumable': operations.TUS_RESUMABLE_OR_NONE },
})

const APPEND = ofDrop(operations.APPEND, {
  operationId: 'appendToDropUpload',
  summary: 'Append bytes to a drop',
  header: operations.PATCH_HEADERS,
})

const CANCEL = ofDrop(operations.CANCEL, {
  operationId: 'cancelDropUpload',
  summary: 'Cancel a drop',
})

const OVERRIDE = ofDrop(operations.OVERRIDE, {
  operationId: 'overrideDropUpload',
  summary: 'Append to a drop, or cancel it, without PATCH and DELETE',
  header: operations.OVERRIDE_HEADERS,
})

export const TUS_OPERATIONS = {
  create: CREATE,
  offset: OFFSET,
  append: APPEND,
  cancel: CANCEL,
  override: OVERRIDE,
}
