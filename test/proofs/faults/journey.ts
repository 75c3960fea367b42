import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import {
  ask,
  bodyOf,
  expectProblem,
  headOf,
  MIB,
  pathOf,
  type Reply,
  startDownload,
  upload,
  usageOf,
} from '../../http/fixture.ts'
import { eventually } from '../../support/eventually.ts'
import { bytesOf } from '../../support/objects.ts'
import { type Piece, rawRequest } from '../../support/http/raw-http.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'

/** Long enough for every deadline of a request, one after the other, on a busy machine. */
const REQUEST_TIMEOUT_MS = 180_000

/** Within that the service works again by itself, on a busy machine. */
const HEALING_MS = 20_000

const EMPTY = 0
const SMALL = 4096
const MEDIUM = 65_536
const ONE_PUT = 5 * MIB - 1
const TWO_PARTS = 6 * MIB

/** The largest file of a journey to the object store, and of one where content does not matter. */
export const LARGEST = 20 * MIB
export const LARGE = TWO_PARTS

/** Contents are pieces of one random buffer: making bytes would take longer than sending them. */
const NOISE = randomBytes(LARGEST + 4096)
let offset = 0

function content(size: number): Buffer {
  offset = (offset + 61) % 4096
  return NOISE.subarray(offset, offset + size)
}

/** What was asked for while a fault lasted, and how it went. */
export interface Outcome {
  /** Names the moment of the fault, the request and the size. */
  readonly what: string
  readonly ok: boolean
  readonly kind: 'upload' | 'download' | 'other'
}

export interface JourneyOptions {
  readonly service: TestService
  readonly user: TestUser
  readonly certain: boolean
  /** Bytes of the largest file. */
  readonly largest: number
}

/** Of one user whose files are made before a fault, worked on during it, and looked at afterwards. */
export class Journey {
  readonly outcomes: Outcome[] = []
  readonly #service: TestService
  readonly #user: TestUser
  /** What each name may hold by now; `undefined` is no file. More than one where an answer left it open. */
  readonly #allowed = new Map<string, readonly (Buffer | undefined)[]>()
  /** Whether a refusal leaves no doubt that nothing has changed. */
  readonly #certain: boolean
  readonly #largest: number

  constructor(options: JourneyOptions) {
    this.#largest = options.largest
    this.#service = options.service
    this.#user = options.user
    this.#certain = options.certain
  }

  /** Makes the files that the fault will find, by an instance that it does not touch. */
  async prepare(sound: TestService): Promise<void> {
    const files = { ...KEPT, [MIDDLE]: this.#largest, ...OVERWRITTEN, [GONE]: SMALL }
    await Promise.all(
      Object.entries(files).map(async ([name, size]) => {
        const bytes = content(size)
        const what = { user: this.#user, name, content: bytes, timeoutMs: REQUEST_TIMEOUT_MS }
        await eventually(async () => {
          const { status } = await upload(sound, what)
          expectEqual({ name, status }, { name, status: 200 })
        })
        this.#allowed.set(name, [bytes])
      }),
    )
  }

  /** Begins what the fault shall meet in its middle or at its end. Resolves when all of it waits there. */
  async begin(): Promise<{ finish(): Promise<void> }> {
    const gate = Promise.withResolvers<void>()
    const { what, waiting } = this.#beginUploads(gate.promise)
    what.catch(() => undefined)
    await eventually(async () => {
      const { reserved } = await usageOf(this.#service, this.#user)
      expectEqual({ reserved, waits: reserved >= waiting }, { reserved, waits: true })
    })
    const downloaded = await this.#beginDownload(MIDDLE)
    return {
      finish: async () => {
        gate.resolve()
        await Promise.all([what, ...downloaded])
      },
    }
  }

  #beginUploads(gate: Promise<void>): { what: Promise<unknown>; waiting: number } {
    const uploads = [
      { name: 'new-middle', size: TWO_PARTS, at: 0.5 },
      { name: 'over-middle', size: MEDIUM, at: 0.5 },
      { name: 'new-end', size: TWO_PARTS, at: 1 },
      { name: 'over-end', size: MEDIUM, at: 1 },
      { name: 'over-end-small', size: SMALL, at: 1 },
    ]
    const running = uploads.map(({ name, size, at }) => this.#upload({ name, size, at, gate }))
    // What replaces a file of its size reserves nothing.
    return { what: Promise.all(running), waiting: 2 * TWO_PARTS }
  }

  /** Resolves to its end, in an array so that it is not awaited yet. */
  async #beginDownload(name: string): Promise<readonly [Promise<void>]> {
    const response = await startDownload(this.#service, { user: this.#user, name })
    expectEqual(response.statusCode, 200)
    const read = async (): Promise<void> => {
      const bytes = await bytesOf(response).catch(() => undefined)
      this.#take({ what: MIDDLE_DOWNLOAD, kind: 'download', bytes, name })
    }
    return [read()]
  }

  /** Does one of everything while the fault lasts. */
  async during(): Promise<void> {
    const fresh = {
      'new-empty': EMPTY,
      'new-small': SMALL,
      'new-put': ONE_PUT,
      'new-parts': this.#largest,
    }
    const over = { 'over-small': ONE_PUT, 'over-put': SMALL }
    await Promise.all([
      ...Object.entries({ ...fresh, ...over }).map(([name, size]) => this.#upload({ name, size })),
      ...[...Object.keys(KEPT), MIDDLE].map((name) => this.#download(name)),
      this.#remove(GONE),
      this.#list(),
    ])
  }

  async #upload(what: { name: string; size: number; at?: number; gate?: Promise<void> }) {
    const { name, size, at = 0, gate = Promise.resolve() } = what
    const bytes = content(size)
    const form = bodyOf(bytes)
    // The store gets its last call only when the file's last bytes have come.
    const held = Math.max(0, Math.floor(form.length * at) - 200)
    const head = headOf({ user: this.#user, name, length: form.length })
    async function* send(): AsyncGenerator<Piece> {
      if (held > 0) yield Buffer.concat([Buffer.from(head), form.subarray(0, held)])
      await gate
      yield held > 0 ? form.subarray(held) : Buffer.concat([Buffer.from(head), form])
    }
    let askedAt = 0
    const release = gate.then(() => (askedAt = performance.now()))
    const reply = await rawRequest({ port: this.#service.port, timeoutMs: 120_000, send: send() })
    await release
    const tookMs = performance.now() - askedAt
    expectEqual({ name, tookMs, late: tookMs > REQUEST_TIMEOUT_MS }, { name, tookMs, late: false })
    const before = this.#allowed.get(name) ?? [undefined]
    const ok = reply.status === 200
    if (!ok) expectRefusal(reply)
    this.#allowed.set(name, ok ? [bytes] : this.#certain ? before : [...before, bytes])
    this.outcomes.push({ what: `upload of ${name}`, ok, kind: 'upload' })
  }

  async #download(name: string): Promise<void> {
    const response = await startDownload(this.#service, { user: this.#user, name })
    const body = await bytesOf(response).catch(() => undefined)
    const { statusCode = 0 } = response
    if (statusCode !== 200) {
      expectEqual({ name, whole: body !== undefined }, { name, whole: true })
      const headers = response.headers as Record<string, string>
      expectRefusal({ status: statusCode, headers, body: body ?? Buffer.alloc(0) })
    }
    const bytes = statusCode === 200 ? body : undefined
    this.#take({ what: `download of ${name}`, kind: 'download', bytes, name })
  }

  /** A download that ends, ends with every byte; else its connection was cut. */
  #take(read: { what: string; kind: 'download'; bytes: Buffer | undefined; name: string }): void {
    const { what, kind, bytes, name } = read
    const [expected] = this.#allowed.get(name) ?? []
    if (bytes !== undefined)
      expectEqual({ what, exact: bytes.equals(expected ?? NOISE) }, { what, exact: true })
    this.outcomes.push({ what, kind, ok: bytes !== undefined })
  }

  async #remove(name: string): Promise<void> {
    const reply = await this.#ask('DELETE', pathOf(name))
    const ok = reply.status === 204
    if (!ok) expectRefusal(reply)
    const before = this.#allowed.get(name) ?? []
    this.#allowed.set(name, ok ? [undefined] : this.#certain ? before : [...before, undefined])
    this.outcomes.push({ what: `delete of ${name}`, ok, kind: 'other' })
  }

  async #list(): Promise<void> {
    const reply = await this.#ask('GET', '/users/me/repo')
    const ok = reply.status === 200
    if (!ok) expectRefusal(reply)
    this.outcomes.push({ what: 'list', ok, kind: 'other' })
  }

  #ask(method: string, path: string): Promise<Reply> {
    return ask(this.#service, { user: this.#user, method, path, timeoutMs: REQUEST_TIMEOUT_MS })
  }

  /** Asserts that the same instance works again by itself. */
  async expectHealed(): Promise<void> {
    const bytes = content(SMALL)
    await eventually(async () => {
      const reply = await upload(this.#service, { user: this.#user, name: 'after', content: bytes })
      expectEqual(reply.status, 200)
    }, HEALING_MS)
    this.#allowed.set('after', [bytes])
  }

  /**
   * Asserts that every file holds, byte for byte, what the answers promised. Returns the names of those that are there.
   */
  async expectContents(): Promise<readonly string[]> {
    const names: string[] = []
    for (const [name, allowed] of this.#allowed) {
      const response = await startDownload(this.#service, { user: this.#user, name })
      const body = await bytesOf(response)
      const found = response.statusCode === 404 ? undefined : body
      const matches = allowed.some((one) => (one && found ? one.equals(found) : one === found))
      const status = response.statusCode
      expectEqual({ name, status, matches }, { name, status, matches: true })
      if (found !== undefined) names.push(name)
    }
    return names
  }
}

const KEPT = {
  'kept-empty': EMPTY,
  'kept-small': SMALL,
  'kept-put': ONE_PUT,
}

const MIDDLE = 'kept-parts'

const OVERWRITTEN = {
  'over-small': SMALL,
  'over-put': ONE_PUT,
  'over-middle': MEDIUM,
  'over-end': MEDIUM,
  'over-end-small': SMALL,
}

const GONE = 'gone'

/** What was read in part when the fault came. */
export const MIDDLE_DOWNLOAD = `download of ${MIDDLE} in its middle`

/** Asserts that a reply says that the service can't, and when to come back. */
function expectRefusal(reply: Reply): void {
  expectProblem(reply, { status: 503, code: 'unavailable' })
  expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0)
}

function expectEqual(found: unknown, wanted: unknown): void {
  expect(found).toEqual(wanted)
}

/** The object key of each file. */
export async function keysOf(
  service: TestService,
  { user, names }: { readonly user: TestUser; readonly names: readonly string[] },
): Promise<readonly string[]> {
  const files = names.map((name) =>
    service.ledger.findFile({ userId: user.userId, name: parseFileName(name), audience: 'owner' }),
  )
  return (await Promise.all(files)).map((file) => file?.objectKey ?? 'no such file')
}
