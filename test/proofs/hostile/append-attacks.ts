import { Agent, type IncomingHttpHeaders, request } from 'node:http'

/** The service, in the name of one user. */
export interface Api {
  readonly port: number
  readonly cookie: string
}

/** So many unfinished uploads of a user: those of an earlier crowd first, then new ones. */
export async function openUploads(api: Api, count: number): Promise<readonly Upload[]> {
  const listed = await call(api, { method: 'GET', path: `${UPLOADS}?limit=100` })
  const { uploads } = JSON.parse(listed.body) as { uploads: readonly { upload_id: string }[] }
  const paths = uploads.map(({ upload_id: id }) => `${UPLOADS}/${id}`).slice(0, count)
  for (let at = paths.length; at < count; at += 1)
    paths.push(await createUpload(api, { name: `append-${at}`, length: LENGTH }))
  const { port, cookie } = api
  return paths.map((path) => ({ port, cookie, path }))
}

export interface Upload extends Api {
  readonly path: string
}

/** Continues the upload with a body that never ends, of which a byte comes every few seconds. */
export function slowAppend(
  upload: Upload,
  drip: () => AsyncGenerator<string, never>,
): () => AsyncGenerator<string, void> {
  return async function* () {
    const { status, headers } = await call(upload, { method: 'HEAD', path: upload.path })
    if (status !== 200) return
    const offset = Number(headers['upload-offset'])
    yield [
      `PATCH ${upload.path} HTTP/1.1`,
      'Host: x',
      `Cookie: ${upload.cookie}`,
      `Tus-Resumable: ${TUS_VERSION}`,
      `Content-Type: ${APPEND_TYPE}`,
      `Upload-Offset: ${offset}`,
      `Content-Length: ${LENGTH - offset}`,
      '\r\n',
    ].join('\r\n')
    yield* drip()
  }
}

/** Appends a byte to an upload; resolves to the status, or `none`. One that fails continues where the service is. */
export function byteAppends(upload: Upload): () => Promise<string> {
  let offset: number | undefined
  return async () => {
    offset ??= await offsetOf(upload)
    if (offset === undefined) return 'none'
    const headers = { 'Upload-Offset': String(offset), 'Content-Type': APPEND_TYPE }
    const sent = { method: 'PATCH', path: upload.path, headers, body: 'x' }
    const { status } = await call(upload, sent)
    offset = status === 204 ? offset + 1 : undefined
    return status === 0 ? 'none' : String(status)
  }
}

export const TUS_VERSION = '1.0.0'
export const APPEND_TYPE = 'application/offset+octet-stream'
const UPLOADS = '/users/me/uploads'
const LENGTH = 64 * 2 ** 20

/** Resolves to its path. */
export async function createUpload(
  api: Api,
  { name, length }: { readonly name: string; readonly length: number },
): Promise<string> {
  const metadata = `filename ${Buffer.from(name).toString('base64')}`
  const headers = { 'Upload-Length': String(length), 'Upload-Metadata': metadata }
  const created = await call(api, { method: 'POST', path: UPLOADS, headers })
  if (created.headers.location !== undefined) return created.headers.location
  throw new Error(`No upload: ${created.status} ${created.body}`)
}

async function offsetOf(upload: Upload): Promise<number | undefined> {
  const { status, headers } = await call(upload, { method: 'HEAD', path: upload.path })
  return status === 200 ? Number(headers['upload-offset']) : undefined
}

interface Call {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

interface Called {
  /** 0 if the connection broke. */
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const agent = new Agent({ keepAlive: true, maxSockets: 200 })

/** Never rejects. */
function call({ port, cookie }: Api, { method, path, headers, body = '' }: Call): Promise<Called> {
  const { promise, resolve } = Promise.withResolvers<Called>()
  const own = {
    Cookie: cookie,
    'Tus-Resumable': TUS_VERSION,
    'Content-Length': String(body.length),
  }
  const outgoing = request({ agent, port, method, path, headers: { ...own, ...headers } })
  outgoing.on('error', () => resolve({ status: 0, headers: {}, body: '' }))
  outgoing.once('response', (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => {})
    response.once('close', () => {
      const { statusCode: status = 0, headers } = response
      resolve({ status, headers, body: Buffer.concat(chunks).toString() })
    })
  })
  outgoing.end(body)
  return promise
}
