import { expectContent, numbered } from './content.ts'
import { FORM_TYPE, formOf } from './form.ts'
import { measure } from './measure.ts'
import type { Side } from './scenario.ts'
import type { Stack } from './stack.ts'
import { type Load, runWrk } from './wrk.ts'

/** How content reaches the service. */
export type UploadKind = 'form' | 'raw'

export interface Uploads {
  readonly stack: Stack
  readonly content: Buffer
  readonly seconds: number
  /** All uploads go to this one; without it each has a name of its own. */
  readonly fileName?: string
}

/** More than any store here takes. */
const PREPARED_PER_SECOND = 6_000

/** As many uploads to the service as it takes, by the users in turn. */
export function serviceUploads(
  uploads: Uploads & {
    readonly kind: UploadKind
    readonly name?: string
    readonly cookies?: readonly string[]
  },
): Side {
  const { stack, content, kind, name = 'service', cookies = stack.cookies } = uploads
  const origin = stack.service.url
  const shared = { ...sharedBy(uploads), origin }
  const cookieOf = (number: number): string => cookies[number % cookies.length] ?? ''
  return {
    name,
    async measure(round) {
      const pathOf = (number: number): string =>
        `/users/me/repo/${nameOf(uploads, { round, number })}`
      const targets = numbers(uploads).map((number) => `${pathOf(number)}\t${cookieOf(number)}`)
      const load: Load =
        kind === 'form'
          ? {
              ...shared,
              method: 'POST',
              targets,
              body: formOf(content),
              headers: { 'Content-Type': FORM_TYPE },
            }
          : { ...shared, method: 'PUT', targets, body: { before: '', content, after: '' } }
      const figures = await measure(stack.processes, async () => runWrk(load))
      for (const number of samplesOf(uploads, (figures.per_second ?? 0) * uploads.seconds)) {
        const url = `${origin}${pathOf(number)}`
        await expectContent({ url, cookie: cookieOf(number) }, numbered(content, number))
      }
      return figures
    },
  }
}

/** The same content put into the object store by itself, under keys such as the service's. */
export function directUploads(uploads: Uploads): Side | undefined {
  const { stack, content } = uploads
  const { direct } = stack
  if (direct === undefined) return undefined
  return {
    name: 'MinIO',
    async measure(round) {
      const keyOf = (number: number): string => `users/user-0/${nameOf(uploads, { round, number })}`
      const figures = await measure(stack.processes, async () =>
        runWrk({
          ...sharedBy(uploads),
          origin: direct.origin,
          method: 'PUT',
          targets: numbers(uploads).map((number) => direct.target('PUT', keyOf(number))),
          body: { before: '', content, after: '' },
        }),
      )
      for (const number of samplesOf(uploads, (figures.per_second ?? 0) * uploads.seconds)) {
        const url = `${direct.origin}${direct.target('GET', keyOf(number))}`
        await expectContent({ url }, numbered(content, number))
      }
      return figures
    },
  }
}

function sharedBy({ stack, content, seconds, fileName }: Uploads) {
  const again = fileName !== undefined
  return { contentBytes: content.length, seconds, folder: stack.folder, again }
}

function numbers({ seconds }: Uploads): readonly number[] {
  return Array.from({ length: PREPARED_PER_SECOND * seconds }, (_, at) => at + 1)
}

function nameOf(
  { fileName }: Uploads,
  { round, number }: { readonly round: number; readonly number: number },
): string {
  return fileName ?? `file-${round}-${number}`
}

const SAMPLES = 8

/** Some of the requests that were answered: not the first, which wrk tries out unsent, nor those under way at the end. */
function samplesOf({ fileName }: Uploads, sent: number): readonly number[] {
  if (fileName !== undefined) return []
  const answered = Math.max(2, Math.floor(sent * 0.9) - 100)
  return Array.from({ length: SAMPLES }, (_, at) => 2 + Math.floor((at * (answered - 2)) / SAMPLES))
}
