// tus 1.0 (docs/api.md, Resumable uploads) on `fetch`. tus-js-client is not used: alone it is larger than this whole
// client, its state and its retries are its own, and it does not run in service workers. What it would do is below.
import {
  clientError,
  CloudRepositoryError,
  connectionLost,
  isProblem,
  unexpectedResponse,
} from '../errors.ts'
import type { components } from '../generated/api.ts'
import { conditionHeaders, type Http, type Reply } from '../http/http.ts'
import { createListing } from '../http/listing.ts'
import type { Part } from './parts.ts'
import type { Attempts } from '../http/retry.ts'
import { createSha256, formatReprDigest } from '../sha256.ts'
import { digestOf, type Source } from './source.ts'
import { queryOf, type Upload, type UploadedFile, type UploadOptions } from './upload.ts'

type UnfinishedUpload = components['schemas']['Upload']
type UploadPage = components['schemas']['UploadPage']

const UPLOADS = 'users/me/uploads'
const TUS = { 'tus-resumable': '1.0.0' } as const

/** A metadata key that tells the client's own uploads apart. The service keeps it and shows it to the owner. */
const MARKER = 'client-key'

/** Sends content of a known size. Continues an upload of an earlier process if the content has a key. */
export async function uploadResumably(
  http: Http,
  one: Upload,
  source: Source,
): Promise<UploadedFile> {
  const { resumeKey = source.fingerprint } = one.options
  const length = source.size
  const isKept = resumeKey !== undefined
  const marker = isKept ? markerOf(one, { resumeKey, length }) : randomMarker()
  const first: Part = { source, isLast: true }
  const transfer = { http, one, length, marker, first, next: () => Promise.resolve(first) }
  const attempts = http.attempts(one.options.signal)
  for (let isNew = !isKept; ;) {
    const previous = isNew ? undefined : await findUpload(transfer)
    // Proves that the bytes of the earlier process are those of this content.
    const digest = previous && (one.digest ?? (await digestOf(source, one.options.signal)))
    try {
      const file = await run({ ...transfer, previous, digest }, attempts)
      // Another process, or the question for the offset, may have stored it without the digest of this one.
      if (digest === undefined || file.sha256 === digest) return file
    } catch (error) {
      if (previous === undefined || !isProblem(error, 'digest_mismatch')) {
        await endUpload(transfer, { error, isKept })
        await restart(attempts, error)
      }
    }
    isNew = true
  }
}

/** Sends a stream, of which one part at a time is in memory. */
export async function uploadParts(
  http: Http,
  one: Upload,
  { first, next }: { readonly first: Part; readonly next: () => Promise<Part> },
): Promise<UploadedFile> {
  const length = first.isLast ? first.source.size : undefined
  const transfer = { http, one, length, marker: randomMarker(), first, next }
  const attempts = http.attempts(one.options.signal)
  try {
    return await run({ ...transfer, previous: undefined, digest: undefined }, attempts)
  } catch (error) {
    await endUpload(transfer, { error, isKept: false })
    throw error
  }
}

interface Transfer {
  readonly http: Http
  readonly one: Upload
  /** `undefined` until the last part of a stream. */
  readonly length: number | undefined
  readonly marker: string
  readonly first: Part
  readonly next: () => Promise<Part>
}

interface Run extends Transfer {
  /** The upload of an earlier process. */
  readonly previous: UnfinishedUpload | undefined
  /** Sent with each append, if the creation did not have it. */
  readonly digest: string | undefined
}

/** The bytes that the service has, and whether it has stored the file. */
interface Progress {
  readonly offset: number
  readonly isStored: boolean
}

async function run(transfer: Run, attempts: Attempts): Promise<UploadedFile> {
  const { http, one, first, next } = transfer
  const { signal, onUploadId, onProgress } = one.options
  const id = transfer.previous?.upload_id ?? (await createUpload(transfer, attempts))
  onUploadId?.(id)
  const path = `${UPLOADS}/${id}`
  let part = first
  /** Where the part begins in the file. */
  let base = 0
  let now: Progress = { offset: 0, isStored: false }

  function report(sent: number): void {
    const total = part.isLast ? base + part.source.size : undefined
    onProgress?.({ sent, total })
  }

  /** Sends the part from there, or nothing of it, if `until` is there too. */
  async function append(from: number, until = base + part.source.size): Promise<Progress> {
    if (from < base) throw lostPart(from, base)
    const { source, isLast } = part
    const end = base + source.size
    const onSent = (sent: number): void => report(from + sent)
    const headers = {
      ...TUS,
      'content-type': 'application/offset+octet-stream',
      'upload-offset': String(from),
      'upload-length': transfer.length === undefined && isLast ? String(end) : undefined,
      'repr-digest': transfer.digest === undefined ? undefined : formatReprDigest(transfer.digest),
    }
    const content = { source, start: from - base, end: until - base, onSent }
    const reply = await http.ask({ method: 'PATCH', path, headers, content, signal })
    const offset = offsetOf(reply)
    if (offset === from && from < until) throw connectionLost(new Error('No byte was recorded.'))
    return { offset, isStored: isLast && offset === end }
  }

  /** Stops the append that was cut off, if it still runs. */
  async function askOffset(): Promise<Progress> {
    let isRefused = false
    for (;;) {
      try {
        // The file could not be stored. An append without content tries again, and gets the reason.
        if (isRefused) return await append(base + part.source.size)
        const reply = await http.ask({ method: 'HEAD', path, headers: TUS, signal })
        const offset = offsetOf(reply)
        return { offset, isStored: reply.headers.get('upload-length') === String(offset) }
      } catch (error) {
        const { status = 0 } = isProblem(error) ? error : {}
        if (status === 404 || status === 410) throw await endOf(transfer, id)
        if (!isRefused && (status === 403 || status === 412)) isRefused = true
        else await attempts.waitAfter(error, isBusy)
      }
    }
  }

  if (transfer.previous !== undefined) now = await askOffset()
  let isStuck = false
  for (;;) {
    while (!now.isStored && (part.isLast || now.offset < base + part.source.size)) {
      const { offset } = now
      try {
        // The response to a refused append can be lost while its content is being sent. Without content, it arrives.
        now = await append(offset, isStuck ? offset : undefined)
        isStuck = false
      } catch (error) {
        await attempts.waitAfter(error, isBusy).catch(async (final: unknown) => {
          throw isProblem(final, 'not_found', 'upload_gone') ? await endOf(transfer, id) : final
        })
        now = await askOffset()
        isStuck = now.offset === offset
      }
      report(now.offset)
      if (now.offset > offset) attempts.reset()
    }
    if (now.isStored) return storedFile(transfer, id)
    base += part.source.size
    part = await next()
  }
}

/** Resolves to the id. If the response is lost, looks for the upload before it creates a second one. */
async function createUpload(transfer: Transfer, attempts: Attempts): Promise<string> {
  const { http, one, length, marker } = transfer
  const { name, options, digest } = one
  const headers = {
    ...TUS,
    ...conditionHeaders(options),
    'upload-length': length === undefined ? undefined : String(length),
    'upload-defer-length': length === undefined ? '1' : undefined,
    'upload-metadata': uploadMetadata({
      ...descriptionOf(options),
      filename: name,
      [MARKER]: marker,
    }),
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
      const found = attempts.isUncertain ? await findUpload(transfer) : undefined
      if (found !== undefined) return found.upload_id
    }
  }
}

async function findUpload({ http, one, marker }: Transfer): Promise<UnfinishedUpload | undefined> {
  const options = { signal: one.options.signal, limit: 1000 }
  const itemsOf = (page: UploadPage) => page.uploads
  for await (const upload of createListing(http, { path: UPLOADS, options, itemsOf })) {
    if (upload.name === one.name && upload.metadata[MARKER] === marker) return upload
  }
  return undefined
}

function offsetOf({ status, headers }: Reply): number {
  const offset = headers.get('upload-offset')
  if (offset === null) throw unexpectedResponse(status, { missing: 'Upload-Offset' })
  return Number(offset)
}

/** The service has lost bytes that it had acknowledged, and a stream cannot be read again. */
function lostPart(offset: number, base: number): CloudRepositoryError {
  const detail = 'The upload continues before the part of the stream that is in memory.'
  return new CloudRepositoryError({
    code: 'offset_mismatch',
    detail,
    offset,
    provided_offset: base,
  })
}

/** The file of a finished upload. The response to the last append does not describe it. */
async function storedFile({ http, one }: Transfer, id: string): Promise<UploadedFile> {
  const { signal } = one.options
  const { file } = await http.json<UnfinishedUpload>({ path: `${UPLOADS}/${id}`, signal })
  if (file === null) throw superseded()
  return file
}

function superseded(cause?: unknown): CloudRepositoryError {
  const detail = 'The upload was stored, and the file has been replaced or deleted since.'
  return clientError('upload_superseded', detail, cause)
}

/** Why there is no such upload any more. */
async function endOf({ http, one }: Transfer, id: string): Promise<unknown> {
  const { signal } = one.options
  try {
    await http.call({ path: `${UPLOADS}/${id}`, signal })
    return connectionLost(new Error('The service did not find an upload that it has.'))
  } catch (error) {
    const isFinished = isProblem(error, 'upload_gone') && error.problem.outcome === 'finished'
    return isFinished ? superseded(error) : error
  }
}

/** Returns if the upload can begin anew: it has expired, or the service has lost its bytes. */
async function restart(attempts: Attempts, error: unknown): Promise<void> {
  const { outcome = 'expired' } = isProblem(error, 'upload_gone') ? error.problem : {}
  const isLost = outcome === 'expired' || outcome === 'lost'
  if (!isLost || !isProblem(error, 'not_found', 'upload_gone')) throw error
  await attempts.waitAfter(error, () => true)
}

/** Cancels an upload that nothing continues, so that its space is free again. */
async function endUpload(
  transfer: Transfer,
  { error, isKept }: { readonly error: unknown; readonly isKept: boolean },
): Promise<void> {
  if (isKept && !isProblem(error, 'precondition_failed')) return
  const { http, one } = transfer
  // The signal may be the reason, and the connection may be lost: the service ends the upload later then.
  const signal = AbortSignal.timeout(CANCEL_MS)
  const unsignalled = { ...transfer, one: { ...one, options: { ...one.options, signal } } }
  const cancel = async (): Promise<void> => {
    const found = await findUpload(unsignalled)
    if (found === undefined) return
    const path = `${UPLOADS}/${found.upload_id}`
    await http.ask({ method: 'DELETE', path, headers: TUS, signal })
  }
  await cancel().catch(() => undefined)
}

const CANCEL_MS = 5_000

function isBusy({ status }: CloudRepositoryError): boolean {
  return status === 409 || status === 423
}

/** The same for the same content and terms, and for no other. */
function markerOf(
  { name, options, digest }: Upload,
  { resumeKey, length }: { readonly resumeKey: string; readonly length: number },
): string {
  const said = { ...queryOf(options), ...descriptionOf(options) }
  const terms = { ...conditionHeaders(options), ...said, digest }
  const hash = createSha256()
  hash.update(new TextEncoder().encode(JSON.stringify([resumeKey, length, name, terms])))
  return hash.hex()
}

function randomMarker(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function descriptionOf({ mediaType, metadata }: UploadOptions) {
  return { filetype: mediaType, metadata: metadata && JSON.stringify(metadata) }
}

function uploadMetadata(values: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(values)
    .flatMap(([key, value]) => (value ? [`${key} ${base64(value)}`] : []))
    .join(',')
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}
