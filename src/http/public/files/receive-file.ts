import type { Visibility } from '../../../core/files/file.ts'
import type { Repository } from '../../../core/files/repository.ts'
import type { UploadFile } from '../../../core/uploads/upload.ts'
import type { CommittedUpload } from '../../../core/uploads/upload-ledger.ts'
import { openRawBody } from '../../body/raw-body.ts'
import { type FileForm, minFileSize, openFileForm } from '../../multipart/file-form.ts'
import type { Exchange } from '../../pages/session-cookie.ts'
import { requestSignal } from '../../server/request-outcome.ts'
import { expectsContinue, tellToContinue } from '../../server/unread-body.ts'

export interface ReceiveOptions {
  readonly repository: Repository
  readonly idleTimeoutMs: number
  readonly shutdown: AbortSignal
}

/** What an upload's head says of its file. */
export type UploadTarget = Omit<UploadFile, 'incoming' | 'signal' | 'visibility'>

/** Stores the file of a form. `visibility` is asked for once the form is complete. */
export async function receiveForm(
  { request, reply }: Exchange,
  { repository, idleTimeoutMs, shutdown }: ReceiveOptions,
  to: {
    readonly target: UploadTarget
    readonly visibility: (form: FileForm) => Visibility | undefined
  },
): Promise<CommittedUpload> {
  const { target } = to
  const signal = requestSignal(reply, shutdown)
  async function onStart(): Promise<void> {
    await repository.admit({ ...target, min: minFileSize(request.headers) })
    tellToContinue(request, reply)
  }
  const form = { signal, idleTimeoutMs, onStart: expectsContinue(request) ? onStart : undefined }
  using incoming = await openFileForm(request, form)
  const visibility = () => to.visibility(incoming)
  return await repository.upload({ ...target, visibility, incoming, signal })
}

/** Stores the body as the file. Its type does not matter. */
export async function receiveBody(
  { request, reply }: Exchange,
  { repository, idleTimeoutMs, shutdown }: ReceiveOptions,
  {
    target,
    visibility,
  }: { readonly target: UploadTarget; readonly visibility: Visibility | undefined },
): Promise<CommittedUpload> {
  const signal = requestSignal(reply, shutdown)
  using incoming = openRawBody(request, { signal, idleTimeoutMs })
  if (expectsContinue(request)) {
    await repository.admit({ ...target, min: incoming.size.min })
    tellToContinue(request, reply)
  }
  return await repository.upload({ ...target, visibility: () => visibility, incoming, signal })
}

/** An `onRequest` hook for `receiveBody`: the service does not store the type, so a malformed one is no error. */
export async function ignoreContentType({ raw }: Exchange['request']): Promise<void> {
  delete raw.headers['content-type']
}
