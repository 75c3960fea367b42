import { setTimeout as delay } from 'node:timers/promises'
import { sha256 } from '../../crash/content.ts'
import type { Oracle } from '../../crash/oracle.ts'
import type { Reply, Request } from '../../crash/request.ts'
import { type ReadRequest, valuesOf } from '../request-reader.ts'
import type { ReadResponse } from '../response-reader.ts'
import type { OpenUpload } from '../subject.ts'
import { type Append, contentsOf } from './append-contents.ts'
import { readResumable, type ResumableRequest } from './resumable-reader.ts'

export interface WatchOptions {
  readonly userId: string
  readonly oracle: Oracle
  /** Sends a valid request. */
  readonly ask: (request: Omit<Request, 'agent' | 'port'>) => Promise<Reply>
}

/** A request of a case, and what it was answered with, if it was. */
export interface Sent {
  readonly request: ReadRequest
  readonly response: ReadResponse | undefined
}

interface Part extends Sent {
  readonly resumable: ResumableRequest
}

interface Watched extends OpenUpload {
  readonly name: string
  readonly path: string
}

interface Listed {
  readonly upload_id: string
  readonly name: string
  readonly offset: number
}

const UPLOADS = '/users/me/uploads'
const TUS = { 'tus-resumable': '1.0.0' } as const
const APPEND = { ...TUS, 'content-type': 'application/offset+octet-stream' } as const
const BEGINNING = Buffer.from('the beginning of an upload\r\n')
const REST = Buffer.from('and the rest\r\n'.repeat(5_000))
const LENGTH = 90

/** How often an upload is asked about that is busy. */
const MOST_LOOKS = 300
const BETWEEN_LOOKS_MS = 50

/**
 * Keeps an unfinished upload for the cases of a user. After each it holds all of the user's uploads against what the
 * requests may have done: the upload that they changed is finished, so that its bytes are compared as a file's, and
 * those that they created are cancelled.
 */
export class UploadWatch {
  readonly #options: WatchOptions
  /** The files of creations so far. One that was not answered may appear late. */
  readonly #names = new Set<string>()
  #upload: Watched | undefined
  #count = 0

  constructor(options: WatchOptions) {
    this.#options = options
  }

  get open(): OpenUpload {
    if (this.#upload === undefined) throw new Error('the watch has not begun')
    return this.#upload
  }

  /** Creates the upload of the next cases. */
  async renew(): Promise<void> {
    const name = `upload-${this.#count++}`
    const length = this.#count % 3 === 0 ? undefined : LENGTH
    const filename = Buffer.from(name).toString('base64')
    const { status, headers } = await this.#options.ask({
      method: 'POST',
      path: UPLOADS,
      headers: {
        ...APPEND,
        'upload-metadata': `filename ${filename}`,
        ...(length === undefined
          ? { 'upload-defer-length': '1' }
          : { 'upload-length': `${length}` }),
      },
      body: [BEGINNING],
    })
    const path = headers.location ?? ''
    if (status !== 201) throw new Error(`a valid creation is answered with ${status}`)
    this.#upload = {
      id: path.slice(UPLOADS.length + 1),
      name,
      path,
      offset: BEGINNING.length,
      length,
    }
  }

  /** What is wrong after these requests. */
  async check(sent: readonly Sent[]): Promise<readonly string[]> {
    const parts = sent.flatMap((one): Part[] => {
      const resumable = readResumable(one.request)
      return resumable === undefined ? [] : [{ ...one, resumable }]
    })
    const { id } = this.open
    const own = parts.filter(({ resumable }) => resumable.kind !== 'create' && resumable.id === id)
    const found = parts.flatMap(appendFaults)
    if (own.length > 0) {
      found.push(...(await this.#finish(own)))
      await this.renew()
    }
    return [...found, ...(await this.#lookAtOthers(parts))]
  }

  /** Sends what is missing of the upload, whose file has to have the bytes of these requests. */
  async #finish(own: readonly Part[]): Promise<readonly string[]> {
    const { name, path, length: known } = this.#upload ?? { name: '', path: '', length: 0 }
    const appends = own.flatMap(appendOf)
    const told = own.map(({ response }) => toldOffset(response))
    for (let look = 0; look < MOST_LOOKS; look++) {
      const { status, headers } = await this.#options.ask({ method: 'HEAD', path, headers: TUS })
      if (status === 404 || status === 410) return own.some(mayEnd) ? [] : [`${name} is gone`]
      if (status !== 200) {
        if (status !== 423 && status !== 503) return [`HEAD of ${name}: ${status}`]
        await delay(BETWEEN_LOOKS_MS)
        continue
      }
      const offset = Number(headers['upload-offset'])
      if (offset < Math.max(BEGINNING.length, ...told)) return [`${name} has lost bytes: ${offset}`]
      const length = Number(headers['upload-length'] ?? known ?? offset + 5)
      if (known !== undefined && length !== known) return [`${name} has the length ${length}`]
      const contents = [...contentsOf(offset, { content: BEGINNING, appends })]
      if (contents.length === 0) return [`${name} has the offset ${offset}, which nobody sent`]
      const rest = REST.subarray(0, length - offset)
      if (rest.length < length - offset) return await this.#cancel(path)
      if (rest.length > 0) {
        const declared = headers['upload-length'] === undefined && { 'upload-length': `${length}` }
        const append = { ...APPEND, 'upload-offset': `${offset}`, ...declared }
        const sent = { method: 'PATCH', path, headers: append, body: [rest] }
        const { status: answered } = await this.#options.ask(sent)
        if (answered === 400 && own.some(hasDigest)) return []
        // Unless a request that was not answered has come in between, or has declared another length.
        if (answered === 400 && own.some(declaresLength)) continue
        if (answered === 409 || answered === 410 || answered === 423) continue
        if (answered !== 204) return [`an append to ${name} is answered with ${answered}`]
      }
      const digests = contents.map((content) => sha256(Buffer.concat([content, rest])))
      this.#options.oracle.begin(`${this.#options.userId}/${name}`, digests).acknowledge()
      return []
    }
    return [`${name} stays busy`]
  }

  /** All but the upload itself are there because a request created them. Cancels them. */
  async #lookAtOthers(parts: readonly Part[]): Promise<readonly string[]> {
    const found: string[] = []
    const { id, offset } = this.open
    const { body } = await this.#options.ask({ method: 'GET', path: UPLOADS })
    const { uploads } = JSON.parse(body?.toString() ?? '') as { readonly uploads: Listed[] }
    const offsets = new Map(uploads.map((upload) => [upload.upload_id, upload.offset]))
    if (offsets.get(id) !== offset)
      found.push(`the upload has the offset ${offsets.get(id)} in place of ${offset}`)
    for (const { resumable, response } of parts) {
      if (resumable.kind !== 'create') continue
      this.#names.add(resumable.name)
      if (response?.status !== 201 || resumable.endsFile) continue
      const location = response.headers.get('location') ?? ''
      const listed = offsets.get(location.slice(UPLOADS.length + 1))
      const told = toldOffset(response)
      if (listed !== told) found.push(`a new upload has the offset ${listed} in place of ${told}`)
    }
    for (const { upload_id, name } of uploads) {
      if (upload_id === id) continue
      if (!this.#names.has(name)) found.push(`an upload of ${name} that nobody created`)
      found.push(...(await this.#cancel(`${UPLOADS}/${upload_id}`)))
    }
    return found
  }

  async #cancel(path: string): Promise<readonly string[]> {
    const { status } = await this.#options.ask({ method: 'DELETE', path, headers: TUS })
    // A request that was not answered may have ended it. An upload that had no append is then forgotten.
    return [204, 404, 410].includes(status) ? [] : [`DELETE of an upload: ${status}`]
  }
}

function appendOf({ resumable, request }: Part): Append[] {
  return resumable.kind === 'append' ? [{ offset: resumable.offset, body: request.body }] : []
}

/** An append that was acknowledged counts whole, or as far as its body came. */
function appendFaults({ resumable, request, response }: Part): string[] {
  if (resumable.kind !== 'append' || response?.status !== 204) return []
  const { offset } = resumable
  const end = offset + request.body.length
  const told = toldOffset(response)
  const isRight = request.isWhole ? told === end : told >= offset && told <= end
  return isRight ? [] : [`an append of the bytes ${offset} to ${end} is told ${told}`]
}

function toldOffset(response: ReadResponse | undefined): number {
  const isSuccess = response !== undefined && response.status < 300
  return isSuccess ? Number(response.headers.get('upload-offset') ?? 0) : 0
}

function declaresLength({ request }: Part): boolean {
  return valuesOf(request, 'upload-length').length > 0
}

function mayEnd(part: Part): boolean {
  return part.resumable.kind === 'cancel' || hasDigest(part)
}

/** Of the whole file: another one than the file's ends the upload. */
function hasDigest({ request }: Part): boolean {
  return valuesOf(request, 'repr-digest').length > 0
}
