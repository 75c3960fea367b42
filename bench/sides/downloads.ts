import { forEachConcurrent } from '../../src/core/async/for-each-concurrent.ts'
import { expectContent, numbered } from '../setup/content.ts'
import { measure, type Processes } from '../measure/measure.ts'
import type { Side } from '../scenario.ts'
import type { ServiceProcess } from '../setup/service-process.ts'
import { FIRST_USER, type Stack } from '../setup/stack.ts'
import { runWrk } from '../measure/wrk.ts'

/** How many files are read in turn, so that none is in some cache alone. */
export const FILES = 200

export interface Downloads {
  readonly stack: Stack
  readonly content: Buffer
  readonly seconds: number
  /** The generator's default when left out. */
  readonly connections?: number
}

/** Files that the service has been given, read from it by one user in turn. */
export async function serviceDownloads(
  downloads: Downloads & {
    readonly cookie?: string
    readonly name?: string
    /** The instances that answer; all of the stack when left out. */
    readonly services?: readonly ServiceProcess[]
    /** Of what stands before them; the first instance's own when left out. */
    readonly origin?: string
    /** The files are public and read without a token. */
    readonly isPublic?: boolean
  },
): Promise<Side> {
  const { stack, content, name = 'service', services = stack.services } = downloads
  const { origin = services[0]?.url ?? '' } = downloads
  const { cookie = stack.cookies[0] ?? '', isPublic = false } = downloads
  const visibility = isPublic ? '?visibility=public' : ''
  await put(content, async (number) => ({
    url: `${origin}/users/me/repo/read-${number}${visibility}`,
    headers: { cookie },
  }))
  const owner = isPublic ? FIRST_USER : 'me'
  const pathOf = (number: number): string => `/users/${owner}/repo/read-${number}`
  return readingSide({
    ...downloads,
    name,
    origin,
    processes: { ...stack.servers, service: services.map(({ pid }) => pid) },
    target: (number) => (isPublic ? pathOf(number) : `${pathOf(number)}\tCookie: ${cookie}`),
    request: (number) => ({ url: `${origin}${pathOf(number)}`, ...(!isPublic && { cookie }) }),
    contentOf: (number) => numbered(content, number),
  })
}

/** The same files in the object store by itself. */
export async function directDownloads(downloads: Downloads): Promise<Side | undefined> {
  const { stack, content } = downloads
  const { direct } = stack
  if (direct === undefined) return undefined
  const { origin } = direct
  const keyOf = (number: number): string => `users/user-0/read-${number}`
  await put(content, async (number) => ({ url: `${origin}${direct.target('PUT', keyOf(number))}` }))
  return readingSide({
    ...downloads,
    name: 'MinIO',
    origin,
    processes: stack.servers,
    target: (number) => direct.target('GET', keyOf(number)),
    request: (number) => ({ url: `${origin}${direct.target('GET', keyOf(number))}` }),
    contentOf: (number) => numbered(content, number),
  })
}

interface Reading {
  readonly name: string
  readonly origin: string
  readonly processes: Processes
  readonly seconds: number
  readonly connections?: number
  readonly stack: Stack
  readonly target: (number: number) => string
  readonly request: (number: number) => { readonly url: string; readonly cookie?: string }
  readonly contentOf: (number: number) => Buffer
}

/** Reads files in turn with as many requests as are taken. */
export function readingSide(reading: Reading): Side {
  const { name, origin, processes, seconds, connections, stack } = reading
  const { target, request, contentOf } = reading
  return {
    name,
    async measure() {
      const figures = await measure(processes, async () =>
        runWrk({
          origin,
          method: 'GET',
          targets: NUMBERS.map(target),
          again: true,
          contentBytes: contentOf(1).length,
          seconds,
          ...(connections !== undefined && { connections }),
          folder: stack.folder,
        }),
      )
      for (const number of [1, Math.floor(FILES / 2), FILES]) {
        await expectContent(request(number), contentOf(number))
      }
      return figures
    },
  }
}

const NUMBERS = Array.from({ length: FILES }, (_, at) => at + 1)

const AT_ONCE = 8

async function put(
  content: Buffer,
  place: (
    number: number,
  ) => Promise<{ readonly url: string; readonly headers?: Record<string, string> }>,
): Promise<void> {
  await forEachConcurrent(NUMBERS, AT_ONCE, async (number) => {
    const { url, headers = {} } = await place(number)
    const body = new Uint8Array(numbered(content, number))
    const reply = await fetch(url, { method: 'PUT', headers, body })
    await reply.arrayBuffer()
    if (reply.status !== 200) throw new Error(`A file was refused with ${reply.status}.`)
  })
}
