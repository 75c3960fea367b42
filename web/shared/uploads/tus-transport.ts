import { Uppy } from '@uppy/core'
import Tus from '@uppy/tus'
import { sendFile, SILENT } from './uppy-upload.ts'

export interface ResumableSending {
  readonly content: Blob
  /** Where a new upload is created. */
  readonly endpoint: string
  /** The upload to continue; a new one is created if `undefined`. */
  readonly uploadUrl: string | undefined
  /** The `Upload-Metadata` of a new upload. */
  readonly metadata: Readonly<Record<string, string>>
  /** Headers of the creation. The service ignores preconditions in later requests. */
  readonly headers: Readonly<Record<string, string>>
  /** Called with the URL of a new upload as soon as it is known. */
  readonly onCreated: (url: string) => void
  readonly onProgress: (sent: number) => void
}

export interface ResumableSender {
  /**
   * Creates an upload, or asks for the offset of an existing one, and sends the rest in one request. Rejects as
   * `sendFile` does, but only once it knows whether an upload was created. If `signal` aborts, the upload stays as it
   * is.
   */
  send(sending: ResumableSending, signal: AbortSignal): Promise<void>
}

/**
 * Uppy with tus, in an instance of its own, because Uppy gives every file to all uploaders of an instance. `queue.ts`
 * decides what to retry and when, and the service knows which upload belongs to a file.
 */
export function createResumableSender(): ResumableSender {
  const uppy = new Uppy<Record<string, string>, { xhr: XMLHttpRequest }>({ logger: SILENT })
  let count = 0
  uppy.use(Tus, {
    limit: 0,
    retryDelays: [],
    onShouldRetry: () => false,
    storeFingerprintForResuming: false,
    // Uppy would cancel an upload that is removed from it, and report no failure of that request.
    onBeforeRequest: (request) => (request.getMethod() === 'DELETE' ? NEVER : undefined),
  })
  return {
    async send({ content, metadata, onCreated, onProgress, ...sending }, signal) {
      const stop = new AbortController()
      let isCreated = sending.uploadUrl !== undefined
      const onAbort = (): void => {
        if (isCreated) stop.abort(signal.reason)
      }
      const id = uppy.addFile({ name: String((count += 1)), data: content, meta: { ...metadata } })
      uppy.setFileState(id, {
        tus: {
          endpoint: sending.endpoint,
          headers: { ...sending.headers },
          allowedMetaFields: Object.keys(metadata),
          ...continuing(sending.uploadUrl),
          onAfterResponse(request, response) {
            const location = response.getHeader('location')
            if (request.getMethod() !== 'POST' || !location) return
            onCreated(new URL(location, request.getURL()).href)
            isCreated = true
            if (signal.aborted) onAbort()
          },
        },
      })
      signal.addEventListener('abort', onAbort)
      try {
        await sendFile({ uppy, id, onProgress, signal: stop.signal })
      } finally {
        signal.removeEventListener('abort', onAbort)
      }
    },
  }
}

const NEVER = new Promise<void>(() => undefined)

/** Without an endpoint, tus-js-client does not replace a refused upload with a new one. */
function continuing(uploadUrl: string | undefined) {
  return uploadUrl === undefined ? {} : { uploadUrl, endpoint: '' }
}
