import type { Body, Meta, Uppy } from '@uppy/core'
import { ConnectionError, problemOf, type ProblemError } from '../api.ts'

export const SILENT = { debug: () => undefined, warn: () => undefined, error: () => undefined }

export interface UppyUpload<M extends Meta, B extends Body> {
  readonly uppy: Uppy<M, B>
  /** The id of a file that was added but is not being sent. */
  readonly id: string
  readonly onProgress: (sent: number) => void
  readonly signal: AbortSignal
}

/**
 * Sends one file of an Uppy instance, and finally removes it from there. Resolves to the body of the response. Rejects
 * with a `ProblemError`, with a `ConnectionError`, or with the reason of `signal`.
 */
export function sendFile<M extends Meta, B extends Body>({
  uppy,
  id,
  onProgress,
  signal,
}: UppyUpload<M, B>): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const isMine = (file: { readonly id: string } | undefined): boolean => file?.id === id
  const onUploadProgress = (
    file: { id: string } | undefined,
    sent: { bytesUploaded: number | false },
  ) => {
    if (isMine(file)) onProgress(Number(sent.bytesUploaded))
  }
  const onSuccess = (file: { id: string } | undefined, { body }: { body?: unknown }) => {
    if (isMine(file)) resolve(body)
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
    signal.removeEventListener('abort', onAbort)
    uppy.off('upload-progress', onUploadProgress)
    uppy.off('upload-success', onSuccess)
    uppy.off('upload-error', onError)
    if (uppy.getFile(id) !== undefined) uppy.removeFile(id)
  })
}

function errorOf(error: Error, response: unknown): ProblemError | ConnectionError {
  const request = requestOf(response)
  if (request === undefined || request.status === 0) return new ConnectionError(error)
  const retryAfter = request.getResponseHeader('retry-after')
  return problemOf({ status: request.status, text: request.responseText, retryAfter })
}

/** The failed request: one plugin passes it directly, the other inside a response. */
function requestOf(response: unknown): XMLHttpRequest | undefined {
  if (response instanceof XMLHttpRequest) return response
  const xhr = (response as { readonly body?: { readonly xhr?: unknown } } | undefined)?.body?.xhr
  return xhr instanceof XMLHttpRequest ? xhr : undefined
}
