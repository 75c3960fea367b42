import DropTarget from '@uppy/drop-target'
import { Uppy } from '@uppy/core'
import XHRUpload from '@uppy/xhr-upload'
import { ConnectionError, problemOf, type ProblemError } from '../../shared/api.ts'
import type { FileEntry, Figures } from '../../shared/model.ts'
import type { GatheredFile } from './upload-item.ts'

export interface UploadReply extends FileEntry {
  readonly capacity: Figures
}

export interface SenderOptions {
  /** Files can be dropped here. */
  readonly target: HTMLElement
  readonly onDropped: (files: readonly GatheredFile[]) => void
}

export interface Sending {
  readonly content: Blob
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly onProgress: (sent: number) => void
}

export interface Sender {
  /**
   * Sends a file. Rejects with a `ProblemError`, a `ConnectionError`, or the reason of `signal`. Several calls can run
   * at once.
   */
  send(sending: Sending, signal: AbortSignal): Promise<UploadReply>
}

type Meta = { readonly relativePath?: string | null }

type Body = Record<string, never>

const SOURCE = 'queue'

/**
 * Uses Uppy to read dropped folders, and to send files with progress events, streamed from the disk. `queue.ts` decides
 * which file is sent when, so Uppy holds only the uploads in progress.
 */
export function createSender({ target, onDropped }: SenderOptions): Sender {
  const uppy = new Uppy<Meta, Body>({ logger: SILENT })
  const sendings = new Map<string, Sending>()
  let count = 0
  const sendingOf = ({ id }: { readonly id: string }) => sendings.get(id)
  uppy.use(DropTarget, { target })
  uppy.use(XHRUpload, {
    method: 'PUT',
    formData: false,
    limit: 0,
    endpoint: (file) => (Array.isArray(file) ? '' : (sendingOf(file)?.url ?? '')),
    headers: (file) => ({ ...sendingOf(file)?.headers }),
    shouldRetry: () => false,
  })
  uppy.on('files-added', (files) => {
    const dropped = files.filter(({ source }) => source !== SOURCE)
    if (dropped.length === 0) return
    uppy.removeFiles(dropped.map(({ id }) => id))
    onDropped(
      dropped.flatMap(({ data, name, meta }) =>
        data instanceof Blob ? [{ content: data, path: meta.relativePath ?? name }] : [],
      ),
    )
  })
  return {
    send: (sending, signal) => send({ uppy, sendings, sending, number: (count += 1), signal }),
  }
}

const SILENT = { debug: () => undefined, warn: () => undefined, error: () => undefined }

interface SendOptions {
  readonly uppy: Uppy<Meta, Body>
  /** By Uppy's file id. */
  readonly sendings: Map<string, Sending>
  readonly sending: Sending
  /** Unique per call. */
  readonly number: number
  readonly signal: AbortSignal
}

function send({ uppy, sendings, sending, number, signal }: SendOptions): Promise<UploadReply> {
  const { content, url, onProgress } = sending
  const { promise, resolve, reject } = Promise.withResolvers<UploadReply>()
  const id = uppy.addFile({
    source: SOURCE,
    // Unique: the same content can be sent under two names. Pages over plain HTTP have no `randomUUID`.
    name: `${url} ${number}`,
    type: content.type,
    data: content,
  })
  sendings.set(id, sending)
  const isMine = (file: { readonly id: string } | undefined): boolean => file?.id === id
  const onUploadProgress = (
    file: { id: string } | undefined,
    sent: { bytesUploaded: number | false },
  ) => {
    if (isMine(file)) onProgress(Number(sent.bytesUploaded))
  }
  const onSuccess = (file: { id: string } | undefined, { body }: { body?: unknown }) => {
    if (isMine(file)) resolve(body as UploadReply)
  }
  const onError = (file: { id: string } | undefined, error: Error, response?: unknown) => {
    if (isMine(file)) reject(errorOf(error, response))
  }
  const onAbort = (): void => {
    reject(signal.reason)
    uppy.removeFile(id)
  }
  uppy.on('upload-progress', onUploadProgress)
  uppy.on('upload-success', onSuccess)
  uppy.on('upload-error', onError)
  signal.addEventListener('abort', onAbort)
  uppy.retryUpload(id).catch(() => undefined)
  return promise.finally(() => {
    sendings.delete(id)
    signal.removeEventListener('abort', onAbort)
    uppy.off('upload-progress', onUploadProgress)
    uppy.off('upload-success', onSuccess)
    uppy.off('upload-error', onError)
    if (uppy.getFile(id) !== undefined) uppy.removeFile(id)
  })
}

/** `response` is the failed request, as Uppy passes it. */
function errorOf(error: Error, response: unknown): ProblemError | ConnectionError {
  if (!(response instanceof XMLHttpRequest) || response.status === 0)
    return new ConnectionError(error)
  const retryAfter = response.getResponseHeader('retry-after')
  return problemOf({ status: response.status, text: response.responseText, retryAfter })
}
