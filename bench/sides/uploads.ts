import { createHash } from 'node:crypto'
import { expectAnyNumber, expectContent, numbered, type Place } from '../setup/content.ts'
import { FORM_TYPE, formOf } from '../setup/form.ts'
import { APPEND, TUS, uploadMetadata } from '../setup/tus.ts'
import { measure, type Processes } from '../measure/measure.ts'
import type { Side } from '../scenario.ts'
import type { Stack } from '../setup/stack.ts'
import { type Load, runWrk } from '../measure/wrk.ts'

/** How content reaches the service. */
export type UploadKind = 'form' | 'raw'

export interface Uploads {
  readonly stack: Stack
  readonly content: Buffer
  readonly seconds: number
  readonly connections?: number
  /** All uploads go to this one; without it each has a name of its own. */
  readonly fileName?: string
}

export interface ServiceUploads extends Uploads {
  /** `tus`: a creation and an append. */
  readonly kind: UploadKind | 'tus'
  readonly name?: string
  /** Of the users who upload, in turn; all of the stack when left out. */
  readonly cookies?: readonly string[]
}

/** As many uploads to the service as it takes. */
export function serviceUploads(uploads: ServiceUploads): Side {
  const { stack, content, kind, name = 'service', cookies = stack.cookies } = uploads
  const { url: origin } = stack.service
  const cookieOf = (number: number): string => cookies[number % cookies.length] ?? ''
  const raw = { method: 'PUT', body: { before: '', content, after: '' } } as const
  const form = {
    method: 'POST',
    body: formOf(content),
    headers: { 'Content-Type': FORM_TYPE },
  } as const
  const tus = {
    ...raw,
    method: 'POST',
    headers: { ...TUS, 'Upload-Length': String(content.length) },
    append: { ...TUS, ...APPEND, Cookie: cookieOf(0), 'Upload-Offset': '0' },
  } as const
  return uploadingSide(uploads, {
    name,
    origin,
    processes: stack.processes,
    request: { form, raw, tus }[kind],
    target: (fileName, number) => {
      const fields = `Cookie: ${cookieOf(number)}`
      if (kind !== 'tus') return `/users/me/repo/${fileName}\t${fields}`
      return `/users/me/uploads\t${fields}\tUpload-Metadata: ${uploadMetadata(fileName)}`
    },
    place: (fileName, number) => ({
      url: `${origin}/users/me/repo/${fileName}`,
      cookie: cookieOf(number),
    }),
  })
}

/** The same content put into the object store by itself, under keys such as the service's. */
export function directUploads(uploads: Uploads): Side | undefined {
  const { direct } = uploads.stack
  if (direct === undefined) return undefined
  const { origin } = direct
  const keyOf = (fileName: string): string => `users/user-0/${fileName}`
  return uploadingSide(uploads, {
    name: 'MinIO',
    origin,
    processes: uploads.stack.servers,
    request: { method: 'PUT', body: { before: '', content: uploads.content, after: '' } },
    target: (fileName) => direct.target('PUT', keyOf(fileName)),
    place: (fileName) => ({ url: `${origin}${direct.target('GET', keyOf(fileName))}` }),
  })
}

interface Way {
  readonly name: string
  readonly origin: string
  readonly processes: Processes
  readonly request: Pick<Load, 'method' | 'body' | 'headers' | 'append'>
  readonly target: (fileName: string, number: number) => string
  readonly place: (fileName: string, number: number) => Place
}

/** More per second than any store here takes. */
export const PREPARED_PER_SECOND = 6_000

function uploadingSide(uploads: Uploads, way: Way): Side {
  const { name, origin, processes, request, target, place } = way
  const { stack, content, seconds, connections, fileName } = uploads
  const numbers = Array.from({ length: PREPARED_PER_SECOND * seconds }, (_, at) => at + 1)
  return {
    name,
    async measure(round) {
      const nameOf = (number: number): string => fileName ?? `file-${round}-${number}`
      const load: Load = {
        ...request,
        origin,
        targets: numbers.map((number) => target(nameOf(number), number)),
        contentBytes: content.length,
        seconds,
        ...(connections !== undefined && { connections }),
        folder: stack.folder,
      }
      const figures = await measure(processes, async () => runWrk(load))
      if (fileName !== undefined) await expectAnyNumber(place(fileName, 0), content)
      else {
        const { per_second: rate = 0 } = figures
        for (const number of samplesOf(rate * seconds, connections)) {
          const sample = place(nameOf(number), number)
          // Appends are numbered in the order of the responses that they follow.
          if (request.append !== undefined) await expectAnyNumber(sample, content)
          else await expectContent(sample, numbered(content, number))
        }
      }
      if (content.length < LARGE_BYTES) return figures
      await stack.empty()
      return { ...figures, sha256_ms: timeDigest(content) }
    },
  }
}

/** Beyond this the disk would not hold all that the rounds bring. */
const LARGE_BYTES = 2 ** 20

/** Milliseconds that the digest of a content takes by itself, which the service adds to the work of a store. */
function timeDigest(content: Buffer): number {
  const started = performance.now()
  for (let at = 0; at < DIGESTS; at += 1) createHash('sha256').update(content).digest()
  return (performance.now() - started) / DIGESTS
}

const DIGESTS = 16

const SAMPLES = 8

/**
 * Some of the requests that were certainly answered, if any: not the first, which wrk tries out unsent, nor those that
 * can be under way at the end.
 */
function samplesOf(answered: number, connections = MOST_CONNECTIONS): readonly number[] {
  const certain = Math.max(0, Math.floor(answered) - 2 * connections)
  const step = certain / SAMPLES
  const numbers = Array.from({ length: SAMPLES }, (_, at) => 2 + Math.floor(at * step))
  return certain === 0 ? [] : [...new Set(numbers)]
}

const MOST_CONNECTIONS = 16
