import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Visibility } from '../../../core/files/file.ts'
import type { Repository } from '../../../core/repository.ts'
import { bodyMediaTypeOf } from '../../../core/files/media-type.ts'
import type { Metadata } from '../../../core/files/metadata.ts'
import type { UploadTarget } from '../../../core/uploads/upload.ts'
import type { CommittedUpload } from '../../../core/uploads/upload-ledger.ts'
import { openRawBody } from '../../body/raw-body.ts'
import { receivedContentType } from '../../headers/content-headers.ts'
import { type FileForm, minFileSize, openFileForm } from '../../multipart/file-form.ts'
import { requestSignal } from '../../server/request-outcome.ts'
import { expectsContinue, tellToContinue } from '../../server/unread-body.ts'

/** Stores the file of a form. See `UploadFile` for when the functions are called. */
export async function receiveForm(
  reply: FastifyReply,
  repository: Repository,
  to: {
    readonly target: UploadTarget
    readonly visibility: (form: FileForm) => Visibility | undefined
    readonly metadata: (form: FileForm) => Metadata | undefined
  },
): Promise<CommittedUpload> {
  const { target } = to
  const { request } = reply
  const signal = requestSignal(reply)
  async function onStart(): Promise<void> {
    await repository.admit({ ...target, min: minFileSize(request.headers) })
    tellToContinue(reply)
  }
  using incoming = await openFileForm(request, {
    signal,
    onStart: expectsContinue(request) ? onStart : undefined,
  })
  return await repository.upload({
    ...target,
    visibility: () => to.visibility(incoming),
    mediaType: incoming.mediaType,
    metadata: () => to.metadata(incoming),
    incoming,
    signal,
  })
}

/** Stores the body as the file. */
export async function receiveBody(
  reply: FastifyReply,
  repository: Repository,
  to: {
    readonly target: UploadTarget
    readonly visibility: Visibility | undefined
    readonly metadata: Metadata | undefined
  },
): Promise<CommittedUpload> {
  const { target } = to
  const { request } = reply
  const signal = requestSignal(reply)
  using incoming = openRawBody(request, { signal })
  if (expectsContinue(request)) {
    await repository.admit({ ...target, min: incoming.size.min })
    tellToContinue(reply)
  }
  return await repository.upload({
    ...target,
    visibility: () => to.visibility,
    mediaType: bodyMediaTypeOf(receivedContentType(request.raw)),
    metadata: () => to.metadata,
    incoming,
    signal,
  })
}

/** An `onRequest` hook for `receiveBody`, because a malformed type is no error. */
export async function ignoreContentType({ raw }: FastifyRequest): Promise<void> {
  delete raw.headers['content-type']
}
