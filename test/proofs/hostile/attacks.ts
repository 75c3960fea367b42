import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { BOUNDARY, uploadHead } from '../../support/http/multipart-body.ts'
import { slowAppend, type Upload } from './append-attacks.ts'

/** How many of each kind there are at a time. */
export interface CrowdSize {
  /** Uploads of which a byte comes every few seconds, half of them forms. */
  readonly slowBodies: number
  /** Forms that never end, each in another way, and uploads of nearly a part that stall. */
  readonly hostileForms: number
  /** Requests whose head comes a byte at a time. */
  readonly slowHeads: number
  /** Connections without a request. */
  readonly idleSockets: number
  /** Downloads of a large file that are taken in sips, in the names of all users. */
  readonly slowReaders: number
  /** Uploads in HTTP chunks of one byte, as fast as they are taken. */
  readonly tinyChunks: number
  /** The same without a token, of requests that have no use for a body. */
  readonly strangersChunks: number
  /** Writers of one user that replace the same file, one upload after the other. */
  readonly overwrites: number
  /** Appends to resumable uploads of which a byte comes every few seconds; 100 uploads of each user at most. */
  readonly slowAppends: number
  readonly wrongTokensPerSecond: number
  /** Appends of a byte each, one after the other to each of some uploads. */
  readonly byteAppendsPerSecond: number
}

/** What one connection sends, as long as it lasts. */
export type Script = () => AsyncGenerator<string | Uint8Array, void>

export interface Attack {
  readonly kind: keyof CrowdSize
  readonly script: Script
  /** Whether the answer is taken in sips. */
  readonly sips: boolean
}

export interface AttackOptions {
  readonly size: CrowdSize
  /** `Cookie` headers of the users in whose names it is done. */
  readonly cookies: readonly string[]
  /** That of the user who overwrites, and does nothing else. */
  readonly writerCookie: string
  /** Those of users who append single bytes, and do nothing else. */
  readonly byteCookies: readonly string[]
  /** The path of a large file that anyone may download. */
  readonly largeFile: string
}

/** One attack for each connection of the crowd, but for what comes so many times a second. */
export function createAttacks(
  { size, cookies, writerCookie, largeFile }: AttackOptions,
  uploads: readonly Upload[],
): readonly Attack[] {
  const cookieOf = (at: number): string => cookies[at % cookies.length] ?? ''
  const times = (kind: keyof CrowdSize, script: (at: number) => Script): Attack[] =>
    Array.from({ length: size[kind] }, (_, at) => ({
      kind,
      script: script(at),
      sips: kind === 'slowReaders',
    }))
  return [
    ...times('slowBodies', (at) => slowBody(`slow-${at}`, { at, cookie: cookieOf(at) })),
    ...times('hostileForms', (at) => {
      const form = FORMS[at % FORMS.length] ?? endlessFields
      return form(`form-${at}`, cookieOf(at))
    }),
    ...times('slowHeads', () => slowHead),
    ...times('idleSockets', () => silence),
    ...times('slowReaders', (at) => slowReader(largeFile, cookieOf(at))),
    ...times('tinyChunks', (at) =>
      tinyChunks(head(`tiny-${at}`, { cookie: cookieOf(at), method: 'PUT' })),
    ),
    ...times('strangersChunks', (at) => tinyChunks(STRANGERS[at % STRANGERS.length] ?? '')),
    ...times('overwrites', () => overwrite(writerCookie)),
    ...uploads.map((upload): Attack => {
      return { kind: 'slowAppends', script: slowAppend(upload, drip), sips: false }
    }),
  ]
}

/** The head of a request with a token that nobody has. */
export function wrongToken(): string {
  const token = `crt_${randomBytes(32).toString('base64url')}`
  return `GET /users/me/repo HTTP/1.1\r\nHost: x\r\nCookie: access_token=${token}\r\n\r\n`
}

const MIB = 2 ** 20
const PIECE = Buffer.alloc(16 * 1024, 'x')

/** What comes before the content of the part `file`. */
const FILE_HEAD = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n`

function head(name: string, options: { cookie: string; method?: 'PUT'; length?: number }): string {
  const { cookie, ...rest } = options
  return uploadHead({ ...rest, path: `/users/me/repo/${name}`, headers: { Cookie: cookie } })
}

function slowBody(name: string, { at, cookie }: { at: number; cookie: string }): Script {
  return async function* () {
    const length = 64 * MIB
    if (at % 2 === 0) yield head(name, { cookie, method: 'PUT', length })
    else yield head(name, { cookie, length }) + FILE_HEAD
    yield* drip()
  }
}

async function* slowHead(): AsyncGenerator<string, void> {
  yield 'GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: '
  yield* drip()
}

async function* drip(): AsyncGenerator<string, never> {
  for (;;) {
    await pause()
    yield 'x'
  }
}

async function* silence(): AsyncGenerator<string, void> {
  // Its connection is all there is.
}

function slowReader(path: string, cookie: string): Script {
  return async function* () {
    yield `GET ${path} HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\n\r\n`
  }
}

const TINY_CHUNKS = '1\r\nA\r\n'.repeat(10_900)

const STRANGERS: readonly string[] = ['DELETE /session', 'POST /nothing'].map(
  (line) => `${line} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`,
)

function tinyChunks(start: string): Script {
  return async function* () {
    yield start
    for (;;) yield TINY_CHUNKS
  }
}

function overwrite(cookie: string): Script {
  return async function* () {
    yield head('stormy', { cookie, method: 'PUT', length: PIECE.length })
    yield PIECE
  }
}

type Form = (name: string, cookie: string) => Script

/** A form that begins like this and goes on with the same for ever, at some 16 KiB/s. */
function endless(start: string, more: string | Uint8Array): Form {
  return (name, cookie) =>
    async function* () {
      yield head(name, { cookie }) + chunk(start)
      for (;;) {
        yield chunk(more)
        await delay(1_000)
      }
    }
}

function chunk(content: string | Uint8Array): string {
  const text = typeof content === 'string' ? content : Buffer.from(content).toString('latin1')
  return `${text.length.toString(16)}\r\n${text}\r\n`
}

const FIELD = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n`
const endlessFields = endless('', FIELD.repeat(200))

const FORMS: readonly Form[] = [
  endlessFields,
  endless('', PIECE),
  endless(`${FILE_HEAD}x\r\n--${BOUNDARY}--\r\n`, PIECE),
  endless(`--${BOUNDARY}\r\n`, 'X-Head: y\r\n'.repeat(1000)),
  // Nearly a boundary, again and again: what has to be searched twice.
  endless(FILE_HEAD, `\r\n--${BOUNDARY.slice(0, -1)}`.repeat(1000)),
  (name, cookie) => stalled(name, { cookie, bytes: 8 * MIB - 100 * 1024 }),
]

/** Sends nearly a part, of which the service can do nothing but keep it, and then nothing more. */
function stalled(name: string, what: { cookie: string; bytes: number }): Script {
  return async function* () {
    yield head(name, { cookie: what.cookie, length: 64 * MIB }) + FILE_HEAD
    for (let sent = 0; sent < what.bytes; sent += PIECE.length) yield PIECE
  }
}

/** Some seconds, not the same for all. */
function pause(): Promise<void> {
  return delay(2_000 + Math.random() * 2_000)
}
