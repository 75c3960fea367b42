import { expectAnyNumber, expectContent, numbered, type Place } from '../setup/content.ts'
import type { Figures } from '../measure/figures.ts'
import { FORM_TYPE, formOf } from '../setup/form.ts'
import { measure } from '../measure/measure.ts'
import type { Side } from '../scenario.ts'
import type { Stack } from '../setup/stack.ts'
import { type Load, runWrk } from '../measure/wrk.ts'

/** How content reaches the service. */
export type UploadKind = 'form' | 'raw'

export interface Uploads {
  readonly stack: Stack
  readonly content: Buffer
  readonly seconds: number
  /** All uploads go to this one; without it each has a name of its own. */
  readonly fileName?: string
}

export interface ServiceUploads extends Uploads {
  readonly kind: UploadKind
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
  return uploadingSide(uploads, {
    name,
    origin,
    request: kind === 'form' ? form : raw,
    target: (fileName, number) => `/users/me/repo/${fileName}\t${cookieOf(number)}`,
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
    request: { method: 'PUT', body: { before: '', content: uploads.content, after: '' } },
    target: (fileName) => direct.target('PUT', keyOf(fileName)),
    place: (fileName) => ({ url: `${origin}${direct.target('GET', keyOf(fileName))}` }),
  })
}

interface Way {
  readonly name: string
  readonly origin: string
  readonly request: Pick<Load, 'method' | 'body' | 'headers'>
  readonly target: (fileName: string, number: number) => string
  readonly place: (fileName: string, number: number) => Place
}

/** More per second than any store here takes. */
const PREPARED_PER_SECOND = 6_000

function uploadingSide(uploads: Uploads, { name, origin, request, target, place }: Way): Side {
  const { stack, content, seconds, fileName } = uploads
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
        folder: stack.folder,
      }
      const figures = await measure(stack.processes, async () => runWrk(load))
      if (fileName !== undefined) await expectAnyNumber(place(fileName, 0), content)
      else {
        for (const number of samplesOf(seconds, figures)) {
          await expectContent(place(nameOf(number), number), numbered(content, number))
        }
      }
      if (content.length >= LARGE_BYTES) await stack.empty()
      return figures
    },
  }
}

/** Beyond this the disk would not hold all that the rounds bring. */
const LARGE_BYTES = 2 ** 20

const SAMPLES = 8

/**
 * Some of the requests that were answered: not the first, which wrk tries out unsent, nor those under way at the end.
 */
function samplesOf(seconds: number, { per_second = 0 }: Figures): readonly number[] {
  const answered = Math.max(2, Math.floor(per_second * seconds * 0.9) - 100)
  return Array.from({ length: SAMPLES }, (_, at) => 2 + Math.floor((at * (answered - 2)) / SAMPLES))
}
