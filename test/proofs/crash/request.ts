import { type Agent, type IncomingHttpHeaders, request as httpRequest } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

export interface Request {
  readonly agent: Agent
  /** The loopback's usual address when left out. */
  readonly host?: string
  readonly port: number
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent one after the other; without a Content-Length among the headers as chunks. */
  readonly body?: readonly Buffer[]
  /** Between the pieces of the body, in milliseconds. */
  readonly pauseMs?: number
  /** The client closes the connection in place of the end of the body. */
  readonly breaksOff?: boolean
  /** Called when the system has taken the last byte of the body. */
  readonly onLastByte?: () => void
}

/** `unsent`: nobody listened. `lost`: the connection broke, and nobody knows what became of the request. */
export type Outcome =
  | { readonly kind: 'unsent' }
  | { readonly kind: 'lost'; readonly reason: string; readonly onNewConnection: boolean }
  | Reply

export interface Reply {
  readonly kind: 'reply'
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** `undefined` when the connection broke before its end. */
  readonly body: Buffer | undefined
}

/** No request takes that long; one that does counts as lost, and is told of. */
const TIMEOUT_MS = 90_000

/** Sends one request, once. Never rejects. */
export async function send(request: Request): Promise<Outcome> {
  const { agent, port, method, path, headers = {}, body = [], onLastByte } = request
  const { host = '127.0.0.1' } = request
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const outgoing = httpRequest({ agent, host, port, method, path, headers })
  const timer = setTimeout(() => {
    resolve({ kind: 'lost', reason: TIMED_OUT, onNewConnection: false })
    outgoing.destroy()
  }, TIMEOUT_MS)
  outgoing.once('response', (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('error', () => {})
    response.once('close', () => {
      const { statusCode: status = 0, headers } = response
      const body = response.complete ? Buffer.concat(chunks) : undefined
      resolve({ kind: 'reply', status, headers, body })
    })
  })
  outgoing.on('error', (error) => {
    const reason = 'code' in error ? String(error.code) : error.message
    const onNewConnection = !outgoing.reusedSocket
    if (reason === 'ECONNREFUSED') resolve({ kind: 'unsent' })
    else resolve({ kind: 'lost', reason, onNewConnection })
  })
  if (onLastByte !== undefined) outgoing.once('finish', onLastByte)
  void sendBody()
  const outcome = await promise
  clearTimeout(timer)
  // What is left of a body that was refused is of no use to anyone.
  if (!outgoing.writableFinished) outgoing.destroy()
  return outcome

  async function sendBody(): Promise<void> {
    for (const [at, piece] of body.entries()) {
      if (at > 0 && request.pauseMs !== undefined) await delay(request.pauseMs)
      if (outgoing.destroyed) return
      outgoing.write(piece)
    }
    if (request.breaksOff !== true) return void outgoing.end()
    await delay(request.pauseMs ?? 0)
    outgoing.destroy()
  }
}

export function isStatus<S extends number>(
  outcome: Outcome,
  status: S,
): outcome is Reply & { readonly status: S } {
  return outcome.kind === 'reply' && outcome.status === status
}

/** Whether the upload has to wait until replaced files of its user are removed, as with a small capacity. */
export function isGarbageRefusal(outcome: Outcome): outcome is Reply & { readonly status: 429 } {
  return isStatus(outcome, 429) && String(outcome.body).includes('awaiting removal')
}

export function json({ body = Buffer.from('{}') }: Reply): Record<string, unknown> {
  return JSON.parse(body.toString()) as Record<string, unknown>
}

export const TIMED_OUT = 'no answer in time'
