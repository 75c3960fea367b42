import { createHash } from 'node:crypto'
import { measure } from '../measure/measure.ts'
import { type Load, runWrk } from '../measure/wrk.ts'
import type { Side } from '../scenario.ts'
import { numbered } from '../setup/content.ts'
import type { Stack } from '../setup/stack.ts'
import { APPEND, append, createUpload, findOffset, reprDigest, TUS } from '../setup/tus.ts'

export interface SmallAppends {
  readonly stack: Stack
  readonly name: string
  /** Of each append, but for its first 16 bytes. */
  readonly content: Buffer
  readonly seconds: number
  /** How many appends an upload has received before the first load. */
  readonly earlier: number
  /** All loads go to one upload; else each to one of its own. */
  readonly isKept?: boolean
}

/** Appends to an upload over one connection, each when the one before was answered. */
export function smallAppends(appends: SmallAppends): Side {
  const { stack, name, isKept = false } = appends
  let kept: Upload | undefined
  return {
    name,
    async measure(round) {
      const upload = kept ?? (await begin(appends, `${name}-${round}`))
      if (isKept) kept = upload
      const load = loadOf(appends, upload)
      const figures = await measure(stack.processes, async () => {
        const before = await stack.direct?.countRequests()
        const work = await runWrk(load)
        const after = await stack.direct?.countRequests()
        return { ...work, objectStoreRequests: after && before && after - before }
      })
      await note(appends, upload)
      if (!isKept) await finish(appends, upload)
      return figures
    },
  }
}

interface Upload {
  readonly path: string
  /** Of all that it has received. */
  readonly sha256: ReturnType<typeof createHash>
  appends: number
}

/** More than one connection sends in all rounds. */
const MAX_APPENDS = 2 ** 16

async function begin(appends: SmallAppends, name: string): Promise<Upload> {
  const { stack, content, earlier } = appends
  const { length: bytes } = content
  const [cookie = ''] = stack.cookies
  const origin = stack.service.url
  const length = MAX_APPENDS * bytes
  const path = await createUpload({ origin, cookie, name, length })
  const sha256 = createHash('sha256')
  for (let number = 0; number < earlier; number += 1) {
    const own = numbered(content, number)
    await append({ origin, cookie, path }, { offset: number * bytes, content: new Uint8Array(own) })
    sha256.update(own)
  }
  return { path, sha256, appends: earlier }
}

/** More per second than one connection sends. */
const PREPARED_PER_SECOND = 6_000

function loadOf({ stack, content, seconds }: SmallAppends, { path, appends }: Upload): Load {
  const [cookie = ''] = stack.cookies
  const { length: bytes } = content
  // The first one is not sent: wrk only tries it out.
  const targets = Array.from({ length: PREPARED_PER_SECOND * seconds }, (_, at) => {
    const offset = Math.max(0, appends + at - 1) * bytes
    return `${path}\tCookie: ${cookie}\tUpload-Offset: ${offset}`
  })
  return {
    origin: stack.service.url,
    method: 'PATCH',
    targets,
    headers: { ...TUS, ...APPEND },
    body: { before: '', content, after: '' },
    contentBytes: bytes,
    seconds,
    connections: 1,
    folder: stack.folder,
  }
}

/** Adds what a load has sent; the one that was under way at its end may count or not. */
async function note({ stack, content }: SmallAppends, upload: Upload): Promise<void> {
  const { path, sha256 } = upload
  const [cookie = ''] = stack.cookies
  const offset = await findOffset({ origin: stack.service.url, cookie, path })
  const count = offset / content.length - upload.appends
  for (let number = 2; number < count + 2; number += 1) sha256.update(numbered(content, number))
  upload.appends += count
}

/** Sends what is missing; throws unless the file is all that was sent. */
async function finish(
  { stack, content }: SmallAppends,
  { path, sha256, appends }: Upload,
): Promise<void> {
  const [cookie = ''] = stack.cookies
  const rest = new Uint8Array((MAX_APPENDS - appends) * content.length)
  const offset = appends * content.length
  const upload = { origin: stack.service.url, cookie, path }
  const digest = await append(upload, { offset, content: rest })
  if (digest === reprDigest(sha256.update(rest).digest('hex'))) return
  throw new Error('An upload is not what was sent in small appends.')
}
