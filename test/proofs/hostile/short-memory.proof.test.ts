import { createHash, randomBytes } from 'node:crypto'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, inject, it } from 'vitest'
import { openWorld } from '../crash/world.ts'
import { APPEND_TYPE, createUpload, TUS_VERSION, type Upload } from './append-attacks.ts'
import { type MeasuredService, startMeasured } from './measured-service.ts'
import { createUser } from './run.ts'

const MIB = 2 ** 20
/** Of S3 uploads, which have memory at once; 128 uploads want 168. */
const PARTS = 6
const UPLOAD_MEMORY = PARTS * 8 * MIB
const CONTENT = randomBytes(10 * MIB)
const SHA256 = createHash('sha256').update(CONTENT).digest()
/** Less than a part, so that the service can do nothing but keep it. */
const STALL_AT = 6 * MIB
const USERS = 8
const OF_EACH = 8
/** What docs/configuration.md says of that many uploads and as many appends. */
const MOST_RESIDENT = 200 * 10 ** 6 + 2 * UPLOAD_MEMORY + 2 * USERS * OF_EACH * MIB

interface Caller {
  readonly service: MeasuredService
  readonly cookie: string
}

describe.skipIf(inject('minio') === undefined)('memory for six parts', () => {
  it('R34 brings 64 uploads and 64 appends through, and refuses stalled appends but the last with memory', async () => {
    await using opened = new AsyncDisposableStack()
    const world = opened.use(await openWorld({ postgres: undefined, s3: inject('minio') }))
    const memory = { UPLOAD_MEMORY: String(UPLOAD_MEMORY) }
    const service = await startMeasured({ ...world.environment, ...memory }, opened)
    const cookies = await Promise.all(
      Array.from({ length: USERS }, (_, at) => createUser(world, `user-${at}`)),
    )
    const callers = cookies.map((cookie) => ({ service, cookie }))
    const numbers = Array.from({ length: OF_EACH }, (_, at) => at)
    const puts = callers.flatMap((caller) => numbers.map((at) => put(caller, `put-${at}`)))
    const appends = callers.flatMap((caller) =>
      numbers.map((at) => resumable(caller, { at, stalls: at % 2 === 0 })),
    )
    const [stored, refused] = await Promise.all([Promise.all(puts), Promise.all(appends)])
    expect(new Set(stored)).toEqual(new Set([SHA256.toString('hex')]))
    const stalled = refused.filter((status) => status !== undefined)
    expect(stalled).toHaveLength((USERS * OF_EACH) / 2)
    const kept = stalled.filter((status) => status === 204)
    expect(kept.length).toBeLessThanOrEqual(PARTS)
    expect(await service.peakBytes()).toBeLessThan(MOST_RESIDENT)
  })
})

/** Resolves to the SHA-256 that the service states. Tries again when it is refused for lack of memory. */
async function put({ service, cookie }: Caller, name: string): Promise<unknown> {
  const path = `/users/me/repo/${name}`
  for (;;) {
    const headers = { cookie, 'content-length': String(CONTENT.length) }
    const answer = await send(service, { method: 'PUT', path, headers, body: CONTENT })
    if (answer.status === 200) return (JSON.parse(answer.body) as { sha256: unknown }).sha256
    assertTemporary(answer)
    await delay(RETRY_MS)
  }
}

/** Resolves to the status of the append that stalled, after all bytes were sent. */
async function resumable(
  { service, cookie }: Caller,
  { at, stalls }: { readonly at: number; readonly stalls: boolean },
): Promise<number | undefined> {
  const api = { port: service.port, cookie }
  const length = CONTENT.length
  const path = await createUpload(api, { name: `append-${at}`, length })
  const upload = { ...api, path }
  let end: number | undefined
  if (stalls) {
    const answer = await append(service, upload, { offset: 0, end: STALL_AT })
    // Nobody needs the memory of the last ones that stall, so what they have sent is stored after a minute.
    if (answer.status !== 204) assertTemporary(answer)
    end = answer.status
  }
  for (;;) {
    const headers = { cookie, 'tus-resumable': TUS_VERSION }
    const head = await send(service, { method: 'HEAD', path, headers })
    const offset = Number(head.headers['upload-offset'])
    if (head.status === 200) {
      const answer = await append(service, upload, { offset, end: length })
      const { status, headers: answered } = answer
      const digest = `sha-256=:${SHA256.toString('base64')}:`
      if (status === 204 && answered['repr-digest'] === digest) return end
      if (status !== 204) assertTemporary(answer)
    } else assertTemporary(head)
    await delay(RETRY_MS)
  }
}

/** Throws unless a client tries again after such a response. */
function assertTemporary({ status, body }: Answer): void {
  if (![423, 429, 503].includes(status)) throw new Error(`${status} ${body}`)
}

const RETRY_MS = 500

/** Sends the content up to `end`, and then waits for the answer. */
async function append(
  service: MeasuredService,
  { path, cookie }: Upload,
  { offset, end }: { readonly offset: number; readonly end: number },
): Promise<Answer> {
  const headers = {
    cookie,
    'tus-resumable': TUS_VERSION,
    'content-type': APPEND_TYPE,
    'upload-offset': String(offset),
    'content-length': String(CONTENT.length - offset),
  }
  const body = CONTENT.subarray(offset, end)
  return await send(service, { method: 'PATCH', path, headers, body, ends: end === CONTENT.length })
}

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const agent = new Agent({ keepAlive: false })

async function send(
  { port }: MeasuredService,
  sent: {
    readonly method: string
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly body?: Buffer
    readonly ends?: boolean
  },
): Promise<Answer> {
  const { method, path, headers, body = Buffer.alloc(0), ends = true } = sent
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const outgoing = request({ agent, port, method, path, headers })
  let isAnswered = false
  // A refusal can come before the body has been sent.
  outgoing.on('error', (error) => isAnswered || reject(error))
  outgoing.once('response', (response) => {
    isAnswered = true
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => {})
    response.once('close', () => {
      outgoing.destroy()
      const { statusCode: status = 0, headers } = response
      resolve({ status, headers, body: Buffer.concat(chunks).toString() })
    })
  })
  if (ends) outgoing.end(body)
  else outgoing.write(body)
  return await promise
}
