import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { multipartBody, filePart, uploadHead } from '../support/http/multipart-body.ts'
import { type Piece, type RawExchange, rawRequest } from '../support/http/raw-http.ts'
import { eventually } from '../support/eventually.ts'

/** Runs `cloud-repo` with these words beside a service and resolves to its JSON. */
export type Cli = (...words: string[]) => Promise<string>

export interface Reply {
  readonly status: number
  readonly json: Readonly<Record<string, unknown>>
}

/** One user of a service on a loopback port. */
export interface Client {
  readonly port: number
  upload(name: string, content: Uint8Array): Promise<Reply>
  /** Its answer's status and the SHA-256 of the body. */
  download(name: string): Promise<{ readonly status: number; readonly sha256: string }>
  /** An upload that takes `seconds`, announced with its length. */
  uploadSlowly(name: string, content: Uint8Array, seconds: number): Promise<RawExchange>
  readiness(): Promise<Reply>
  /** Resolves once `/readyz` says so. */
  ready(): Promise<void>
}

export interface ClientOptions {
  readonly port: number
  readonly basePath?: string
  readonly cli: Cli
  readonly userId: string
}

/** Makes the user and an access token with the command line. */
export async function createClient(options: ClientOptions): Promise<Client> {
  const { port, basePath = '', cli, userId } = options
  await cli('users', 'create', userId)
  const issued = JSON.parse(await cli('tokens', 'issue', userId)) as { access_token: string }
  const headers = { cookie: `access_token=${issued.access_token}` }
  const root = `http://127.0.0.1:${port}${basePath}`
  const path = (name: string) => `${basePath}/users/me/repo/${name}`

  async function upload(name: string, content: Uint8Array): Promise<Reply> {
    const form = new FormData()
    form.set('file', new Blob([new Uint8Array(content)]), name)
    const url = `${root}/users/me/repo/${name}`
    return replyOf(await fetch(url, { method: 'POST', headers, body: form }))
  }

  async function download(name: string) {
    const answer = await fetch(`${root}/users/me/repo/${name}`, { headers })
    return { status: answer.status, sha256: sha256(new Uint8Array(await answer.arrayBuffer())) }
  }

  async function uploadSlowly(name: string, content: Uint8Array, seconds: number) {
    const body = multipartBody([filePart(content)])
    const head = uploadHead({ path: path(name), length: body.length, headers })
    return rawRequest({ port, send: slowly([head, body], seconds), timeoutMs: 150_000 })
  }

  async function readiness(): Promise<Reply> {
    return replyOf(await fetch(`${root}/readyz`))
  }

  async function ready(): Promise<void> {
    await eventually(async () => {
      const { status, json } = await readiness()
      if (status !== 200) throw new Error(`not ready: ${JSON.stringify(json)}`)
    })
  }

  return { port, upload, download, uploadSlowly, readiness, ready }
}

export function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

async function replyOf(answer: Response): Promise<Reply> {
  return { status: answer.status, json: (await answer.json()) as Record<string, unknown> }
}

const PIECES = 100

async function* slowly([head, body]: [string, Uint8Array], seconds: number): AsyncGenerator<Piece> {
  yield head
  const step = Math.ceil(body.length / PIECES)
  for (let sent = 0; sent < body.length; sent += step) {
    yield body.subarray(sent, sent + step)
    await setTimeout((seconds * 1000) / PIECES)
  }
}
