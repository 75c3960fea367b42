export const TUS = { 'Tus-Resumable': '1.0.0' }

/** What each append has beside `Upload-Offset`. */
export const APPEND = { 'Content-Type': 'application/offset+octet-stream' }

export interface NewUpload extends Omit<UploadPlace, 'path'> {
  readonly name: string
  readonly length: number
}

/** Creates a resumable upload and returns its path, which all instances share. */
export async function createUpload({ origin, cookie, name, length }: NewUpload): Promise<string> {
  const reply = await fetch(`${origin}/users/me/uploads`, {
    method: 'POST',
    headers: {
      ...TUS,
      cookie,
      'Upload-Length': String(length),
      'Upload-Metadata': uploadMetadata(name),
    },
  })
  await reply.arrayBuffer()
  const location = reply.headers.get('location')
  if (reply.status === 201 && location !== null) return location
  throw new Error(`An upload was refused with ${reply.status}.`)
}

export function uploadMetadata(name: string): string {
  return `filename ${Buffer.from(name).toString('base64')}`
}

/** The offset of an upload, which ends an append that is running. */
export async function findOffset(upload: UploadPlace): Promise<number> {
  const { origin, cookie, path } = upload
  const headers = { ...TUS, cookie }
  const reply = await fetch(`${origin}${path}`, { method: 'HEAD', headers })
  const offset = reply.headers.get('upload-offset')
  if (reply.status === 200 && offset !== null) return Number(offset)
  throw new Error(`The offset of an upload was refused with ${reply.status}.`)
}

export interface UploadPlace {
  /** Of the instance that is asked. */
  readonly origin: string
  readonly cookie: string
  readonly path: string
}

/** Appends a content, and returns what the response says of the digest of the whole file. */
export async function append(
  { origin, cookie, path }: UploadPlace,
  { offset, content }: { readonly offset: number; readonly content: Uint8Array<ArrayBuffer> },
): Promise<string | null> {
  const reply = await fetch(`${origin}${path}`, {
    method: 'PATCH',
    headers: { ...TUS, ...APPEND, cookie, 'Upload-Offset': String(offset) },
    body: content,
  })
  await reply.arrayBuffer()
  if (reply.status === 204) return reply.headers.get('repr-digest')
  throw new Error(`An append was refused with ${reply.status}.`)
}

/** As the header `Repr-Digest` has it. */
export function reprDigest(sha256: string): string {
  return `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`
}
