import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalidParameter } from '../../../core/errors.ts'
import { parseVisibility } from '../../../core/files/file.ts'
import { type Metadata, parseMetadata } from '../../../core/files/metadata.ts'
import { narrowPrecondition } from '../../../core/auth/scope.ts'
import { assertWholeFile, describeStored } from '../../headers/content-headers.ts'
import { parseWritePrecondition } from '../../headers/preconditions.ts'
import { parseReprDigest } from '../../headers/repr-digest.ts'
import { parseFileMetadata } from '../../headers/file-metadata.ts'
import type { FileForm } from '../../multipart/file-form.ts'
import type { UserPlugin } from '../user-plugin.ts'
import { OWN_FILE_PATH, ownFile } from './file-resource.ts'
import { UploadedFile, uploadedFile } from '../../routes/files/stored-file.ts'
import { FORM_UPLOAD, RAW_UPLOAD } from '../../routes/files/upload.openapi.ts'
import {
  askedRetention,
  askedVisibility,
  permittedVisibility,
  UPLOAD_QUERY,
} from '../../routes/files/upload-query.ts'
import { ignoreContentType, receiveBody, receiveForm } from './receive-file.ts'

export const uploadRoutes: UserPlugin = async (app, { useCases: { repository } }) => {
  const schema = { querystring: UPLOAD_QUERY, response: { 200: UploadedFile } }

  const storeForm = async (request: FastifyRequest, reply: FastifyReply) => {
    const target = uploadTarget(request)
    const { subject } = target
    const asked = askedVisibility(request, subject)
    const sent = parseFileMetadata(request.headers)
    const committed = await receiveForm(reply, repository, {
      target,
      visibility: (form) =>
        agree(VISIBILITY, [
          asked,
          permittedVisibility(subject, parseVisibility(form.field('visibility'))),
        ]),
      metadata: (form) => agree(METADATA, [sent, metadataIn(form)]),
    })
    return uploadedFile(subject, committed)
  }
  app.post(OWN_FILE_PATH, { schema, config: { operation: FORM_UPLOAD } }, storeForm)

  const storeBody = async (request: FastifyRequest, reply: FastifyReply) => {
    const target = uploadTarget(request)
    const { subject } = target
    const visibility = askedVisibility(request, subject)
    const metadata = parseFileMetadata(request.headers)
    const sent = { target, visibility, metadata }
    const committed = await receiveBody(reply, repository, sent)
    // RFC 9110 section 9.3.4 allows this because the content is stored byte for byte.
    describeStored(reply, committed.file.version)
    return uploadedFile(subject, committed)
  }
  const put = { schema, onRequest: ignoreContentType, config: { operation: RAW_UPLOAD } }
  app.put(OWN_FILE_PATH, put, storeBody)
}

/** What the head of an upload says about the file. Throws as the parsers of its parts do. */
function uploadTarget(request: FastifyRequest) {
  const { headers } = request
  const { subject, name } = ownFile(request, ['create', 'replace'])
  assertWholeFile(headers)
  return {
    subject,
    name,
    ...askedRetention(request, subject),
    precondition: narrowPrecondition(subject, parseWritePrecondition(headers)),
    sha256: parseReprDigest(headers['repr-digest']?.toString()),
  }
}

function metadataIn(form: FileForm): Metadata | undefined {
  const text = form.field('metadata')
  return text === undefined ? undefined : parseMetadata(text)
}

const VISIBILITY = { field: 'visibility', other: 'The query parameter "visibility"' }
const METADATA = { field: 'metadata', other: 'The header File-Metadata' }

/** The value that both have, or that only one has. */
function agree<T extends string>(
  { field, other }: typeof VISIBILITY,
  [first, second]: readonly [T | undefined, T | undefined],
): T | undefined {
  if (first === undefined || second === undefined || first === second) return first ?? second
  throw invalidParameter(field, `${other} and the form field "${field}" have different values.`)
}
