import type { Reply } from './answer.ts'

/** The part of `XMLHttpRequest` that is used, so that the types do not need the DOM. */
interface Xhr extends EventTarget {
  readonly upload: EventTarget
  readonly status: number
  readonly responseText: string
  withCredentials: boolean
  open(method: string, url: string): void
  setRequestHeader(name: string, value: string): void
  getResponseHeader(name: string): string | null
  send(body: Blob): void
  abort(): void
}

export interface XhrRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  readonly body: Blob
  readonly withCredentials: boolean
  readonly onSent: (bytes: number) => void
  readonly signal: AbortSignal
}

/** Resolves to any response. Rejects if there is none, or when the signal aborts. */
export function sendByXhr(request: XhrRequest): Promise<Reply> {
  const { XMLHttpRequest } = globalThis as unknown as { readonly XMLHttpRequest: new () => Xhr }
  const { signal } = request
  return new Promise<Reply>((resolve, reject) => {
    const xhr = new XMLHttpRequest()
    const abort = (): void => xhr.abort()
    const end = (): void => signal.removeEventListener('abort', abort)
    const fail = (): void => {
      end()
      reject(signal.reason)
    }
    xhr.upload.addEventListener('progress', (event) => {
      request.onSent((event as Event & { readonly loaded: number }).loaded)
    })
    xhr.addEventListener('error', fail)
    xhr.addEventListener('abort', fail)
    xhr.addEventListener('load', () => {
      end()
      const headers = { get: (name: string) => xhr.getResponseHeader(name) }
      resolve({ status: xhr.status, headers, text: xhr.responseText })
    })
    xhr.open(request.method, request.url.href)
    xhr.withCredentials = request.withCredentials
    request.headers.forEach((value, name) => xhr.setRequestHeader(name, value))
    signal.addEventListener('abort', abort)
    xhr.send(request.body)
  })
}
