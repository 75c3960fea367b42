import {
  clientError,
  type CloudRepositoryError,
  isProblem,
  unexpectedResponse,
} from '../../errors.ts'
import type { components } from '../../generated/api.ts'
import { conditionHeaders, type Http } from '../../http/http.ts'
import { createListing } from '../../http/listing.ts'
import type { Attempts } from '../../http/retry.ts'
import { createSha256, formatReprDigest } from '../../sha256.ts'
import { queryOf, type Upload, type UploadedFile, type UploadOptions } from '../upload.ts'

type UnfinishedUpload = components['schemas']['Upload']
type UploadPage = components['schemas']['UploadPage']

export const UPLOADS = 'users/me/uploads'
export const TUS = { 'tus-resumable': '1.0.0' } as const

/** A metadata key that tells the client's own uploads apart. The service keeps it and shows it to the owner. */
const MARKER = 'client-key'

/** An upload as it is created, and found again. */
export interface Creation {
  readonly http: Http
  readonly one: Upload
  /** `undefined` for a stream whose end is not known yet. */
  readonly length: number | undefined
  /** When the content was modified, in milliseconds since 1970, for who lists the uploads. */
  readonly modified?: number | undefined
  readonly marker: string
}

/** Resolves to the id. If the response is lost, looks for the upload before it creates a second one. */
export async function createUpload(creation: Creation, attempts: Attempts): Promise<string> {
  const { http, one, length, modified, marker } = creation
  const { name, options, digest } = one
  const described = { ...descriptionOf(options), modified, filename: name, [MARKER]: marker }
  const headers = {
    ...TUS,
    ...conditionHeaders(options),
    'upload-length': length === undefined ? undefined : String(length),
    'upload-defer-length': length === undefined ? '1' : undefined,
    'upload-metadata': uploadMetadata(described),
    'repr-digest': digest === undefined ? undefined : formatReprDigest(digest),
  }
  const call = { path: UPLOADS, query: queryOf(options), headers, signal: options.signal }
  for (;;) {
    try {
      const reply = await http.ask({ method: 'POST', ...call })
      const id = reply.headers.get('location')?.split('/').at(-1)
      if (id === undefined) throw unexpectedResponse(reply.status, { missing: 'Location' })
      return id
    } catch (error) {
      await attempts.waitAfter(error)
      const found = attempts.isUncertain ? await findUpload(creation) : undefined
      if (found !== undefined) return found
    }
  }
}

/** The id of the unfinished upload that has the marker. */
export async function findUpload({ http, one, marker }: Creation): Promise<string | undefined> {
  const options = { signal: one.options.signal, limit: 1000 }
  const listed = { path: UPLOADS, options, member: 'uploads' } as const
  for await (const upload of createListing<UploadPage, 'uploads'>(http, listed)) {
    if (upload.name === one.name && upload.metadata[MARKER] === marker) return upload.upload_id
  }
  return undefined
}

/** Cancels the upload, so that its space is free again. Never rejects: the service ends it later if it cannot now. */
export async function cancelUpload(creation: Creation, known: string | undefined): Promise<void> {
  const { http, one } = creation
  // That of the upload may be the reason why it ends.
  const signal = AbortSignal.timeout(CANCEL_MS)
  try {
    const unsignalled = { ...creation, one: { ...one, options: { ...one.options, signal } } }
    const id = known ?? (await findUpload(unsignalled))
    if (id === undefined) return
    await http.ask({ method: 'DELETE', path: `${UPLOADS}/${id}`, headers: TUS, signal })
  } catch {
    // The connection may be lost.
  }
}

const CANCEL_MS = 5_000

/** The file of a finished upload. The response to the last append does not describe it. */
export async function storedFile({ http, one }: Creation, id: string): Promise<UploadedFile> {
  const { signal } = one.options
  try {
    const { file } = await http.json<UnfinishedUpload>({ path: `${UPLOADS}/${id}`, signal })
    if (file !== null) return file as UploadedFile
  } catch (error) {
    throw isFinished(error) ? superseded(error) : error
  }
  throw superseded()
}

/** The error that tells why there is no such upload any more. */
export async function endOf({ http, one }: Creation, id: string): Promise<unknown> {
  const { signal } = one.options
  try {
    await http.call({ path: `${UPLOADS}/${id}`, signal })
    return clientError('connection_lost', 'The service did not find an upload that it has.')
  } catch (error) {
    return isFinished(error) ? superseded(error) : error
  }
}

/** Of an upload that was asked for: its file is not the current one any more. */
function isFinished(error: unknown): boolean {
  return isProblem(error, 'upload_gone') && error.problem.outcome === 'finished'
}

function superseded(cause?: unknown): CloudRepositoryError {
  const detail = 'The upload was stored, and the file has been replaced, renamed or deleted since.'
  return clientError('upload_superseded', detail, cause)
}

/** The same for the same content and terms, and for no other. */
export function markerOf(
  { name, options, digest }: Upload,
  { resumeKey, length }: { readonly resumeKey: string; readonly length: number },
): string {
  const said = { ...queryOf(options), ...descriptionOf(options) }
  const terms = { ...conditionHeaders(options), ...said, digest }
  const hash = createSha256()
  hash.update(new TextEncoder().encode(JSON.stringify([resumeKey, length, name, terms])))
  return hash.hex()
}

function descriptionOf({ mediaType, metadata }: UploadOptions) {
  return { filetype: mediaType, metadata: metadata && JSON.stringify(metadata) }
}

function uploadMetadata(values: Readonly<Record<string, string | number | undefined>>): string {
  return Object.entries(values)
    .flatMap(([key, value]) => (value ? [`${key} ${base64(String(value))}`] : []))
    .join(',')
}

export function randomMarker(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

export function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}
