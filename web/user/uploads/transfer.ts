import { type Api, ConnectionError, pathOf } from '../../shared/api.ts'
import type { FileEntry } from '../../shared/model.ts'
import type { Permissions } from '../permissions.ts'
import type { ResumableSender } from '../../shared/uploads/tus-transport.ts'
import {
  explained,
  type UnfinishedUploads,
  uploadPath,
  UPLOADS_PATH,
} from './unfinished-uploads.ts'
import { RESUMABLE_BYTES, type UploadItem } from './upload-item.ts'
import type { Sender } from './uppy-transport.ts'

export interface TransferOptions {
  readonly api: Api
  readonly permissions: Permissions
  readonly sender: () => Sender
  readonly unfinished: UnfinishedUploads
}

export interface TransferTerms {
  readonly onProgress: (sent: number) => void
  readonly signal: AbortSignal
  /** Throws if nothing more may be sent for this user: another tab is signing somebody else in. */
  readonly assertNotHeld: () => void
}

/**
 * Sends a file, or the rest of it. Resolves to the stored file, or to `undefined` if it has been replaced or deleted
 * since. Rejects with a `ProblemError`, with a `ConnectionError`, with the reason of the signal, or as `assertNotHeld`
 * throws.
 */
export type Transfer = (item: UploadItem, terms: TransferTerms) => Promise<FileEntry | undefined>

/**
 * Sends large files, and uploads that are continued, with tus. A small file takes a single request, which is cheaper.
 */
export function createTransfer(options: TransferOptions): Transfer {
  const { api, permissions, sender, unfinished } = options
  let resumable: ResumableSender | undefined

  async function sendWhole(item: UploadItem, { onProgress, signal }: TransferTerms) {
    const { content, name } = item
    const headers = conditionsOf(item, permissions)
    return await sender().send(
      { content, url: api.urlOf(pathOf(name)), headers, onProgress },
      signal,
    )
  }

  async function sendResumably(
    by: ResumableSender,
    item: UploadItem,
    { onProgress, signal }: TransferTerms,
  ) {
    const { content, name, modified, uploadId } = item
    const sending = {
      content,
      endpoint: api.urlOf(UPLOADS_PATH),
      uploadUrl: uploadId && api.urlOf(uploadPath(uploadId)),
      metadata: { filename: name, ...(modified !== '' && { modified }) },
      headers: conditionsOf(item, permissions),
      onProgress,
      onCreated(url: string) {
        item.uploadId = decodeURIComponent(url.slice(url.lastIndexOf('/') + 1))
      },
    }
    try {
      await by.send(sending, signal)
    } catch (error) {
      const { uploadId: id } = item
      throw id === undefined ? error : await explained(error, () => unfinished.find(id))
    }
    // The response to the last append has no body.
    const { file } = await unfinished.find(item.uploadId ?? '')
    return file ?? undefined
  }

  /** `undefined` if it cannot be loaded: after an update of the service, its file has another name. */
  async function load(): Promise<ResumableSender | undefined> {
    if (resumable !== undefined) return resumable
    try {
      const { createResumableSender } = await import('../../shared/uploads/tus-transport.ts')
      return (resumable ??= createResumableSender())
    } catch {
      return undefined
    }
  }

  return async (item, terms) => {
    if (item.size < RESUMABLE_BYTES && item.uploadId === undefined) return sendWhole(item, terms)
    const by = await load()
    terms.signal.throwIfAborted()
    terms.assertNotHeld()
    if (by !== undefined) return sendResumably(by, item, terms)
    if (item.uploadId === undefined) return sendWhole(item, terms)
    throw new ConnectionError(new Error('The code for resumable uploads could not be loaded.'))
  }
}

/**
 * Never overwrites a version that another client has written meanwhile, unless the token may not read: then the user has
 * agreed to replace whatever file has the name.
 */
function conditionsOf(
  { replaced, mayReplace }: UploadItem,
  { may }: Permissions,
): Readonly<Record<string, string>> {
  if (replaced !== undefined) return { 'if-match': `"${replaced.etag}"` }
  return mayReplace && !may('read') ? { 'if-match': '*' } : { 'if-none-match': '*' }
}
