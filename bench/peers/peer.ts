import type { Load } from '../measure/wrk.ts'
import type { UploadKind } from '../sides/uploads.ts'

/** A comparable server, whose program is given. */
export interface Peer {
  readonly title: string
  /** How files are uploaded, both to it and to the service beside it. */
  readonly kind: UploadKind
  /** Starts the program on 127.0.0.1 with an empty folder. Both end with the stack. */
  start(program: string, options: StartOptions): Promise<RunningPeer>
}

export interface StartOptions {
  readonly opened: AsyncDisposableStack
  /** Whether anyone may upload. If not, uploads need an access token. */
  readonly isOpen: boolean
}

export interface RunningPeer {
  readonly pid: number
  /** Such as `http://127.0.0.1:8090`. */
  readonly origin: string
  upload(content: Buffer): Pick<Load, 'method' | 'headers' | 'body'>
  /** The path to which the upload of a file goes. */
  uploadPath(fileName: string): string
  /** Resolves to the path from which the file can be downloaded. */
  store(fileName: string, content: Buffer): Promise<string>
  /** The paths of some of the stored files. */
  listPaths(count: number): Promise<readonly string[]>
}

/** The body of a successful response. Throws for another one. */
export async function request(url: string, init: RequestInit = {}): Promise<string> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text.slice(0, 300)}`)
  return text
}

const REQUEST_TIMEOUT_MS = 60_000
