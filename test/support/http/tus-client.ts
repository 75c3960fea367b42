import { expect } from 'vitest'

const TUS = { 'tus-resumable': '1.0.0' }
const CONTENT = { 'content-type': 'application/offset+octet-stream' }

interface Server {
  readonly url: string
}

export interface NewUpload {
  /** Empty for an upload by a drop link. */
  readonly cookie?: string
  /** Of the owner's uploads when left out. */
  readonly path?: string
  readonly name: string
  readonly length: number
  /** Sent with the creation. */
  readonly content?: string | Uint8Array<ArrayBuffer>
}

/** Creates a resumable upload that has received `content`. Returns its id. */
export async function beginUpload(
  { url }: Server,
  { cookie = '', path = '/users/me/uploads', name, length, content = '' }: NewUpload,
): Promise<string> {
  const reply = await fetch(url + path, {
    method: 'POST',
    headers: {
      cookie,
      ...TUS,
      'upload-length': String(length),
      'upload-metadata': `filename ${Buffer.from(name).toString('base64')}`,
      ...(content.length > 0 && CONTENT),
    },
    ...(content.length > 0 && { body: content }),
  })
  expect({ status: reply.status, body: await reply.text() }).toEqual({ status: 201, body: '' })
  return reply.headers.get('location')?.split('/').at(-1) ?? ''
}

interface Client extends Server {
  readonly cookie: string
}

interface Outcome {
  readonly status: number
  /** Where the service continued; `undefined` if it refused to. */
  readonly offset: number | undefined
}

/** Sends the rest of `content`, from the offset that the service returns. */
export async function sendRest(
  { url, cookie }: Client,
  id: string,
  content: Buffer<ArrayBuffer>,
): Promise<Outcome> {
  const upload = `${url}/users/me/uploads/${id}`
  const head = await fetch(upload, { method: 'HEAD', headers: { cookie, ...TUS } })
  if (head.status !== 200) return { status: head.status, offset: undefined }
  const offset = Number(head.headers.get('upload-offset'))
  const headers = { cookie, ...TUS, ...CONTENT, 'upload-offset': String(offset) }
  const reply = await fetch(upload, { method: 'PATCH', headers, body: content.subarray(offset) })
  await reply.text()
  return { status: reply.status, offset }
}

export async function cancelUpload({ url, cookie }: Client, id: string): Promise<number> {
  const upload = `${url}/users/me/uploads/${id}`
  const reply = await fetch(upload, { method: 'DELETE', headers: { cookie, ...TUS } })
  await reply.text()
  return reply.status
}
