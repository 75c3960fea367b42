import type { Agent } from 'node:http'
import { sha256 } from '../crash/content.ts'
import { ABSENT, Oracle } from '../crash/oracle.ts'
import { type Reply, type Request, send } from '../crash/request.ts'
import { bytesOf, exchange, type ExchangeOptions } from './exchange.ts'
import { buildCase, type FuzzCase } from './fuzz-case.ts'
import { judge } from './judge.ts'
import type { AnswerCheck } from '../../openapi/answer-check.ts'
import { spellings } from './subject.ts'
import type { FuzzTally } from './tally.ts'
import { type ReadRequest, readRequests } from './request-reader.ts'
import type { ReadResponse } from './response-reader.ts'
import { UploadWatch } from './resumable/upload-watch.ts'
import { beginAll, effectOf } from './write-effects.ts'

export interface WorkerOptions extends Omit<ExchangeOptions, 'port'> {
  readonly ports: { readonly public: number; readonly admin: number }
  readonly agent: Agent
  readonly seed: number
  readonly tally: FuzzTally
  readonly userId: string
  readonly cookie: string
  readonly adminToken: string
  readonly checkAnswer: AnswerCheck
}

const KEPT = 'kept/caf\u00e9 100%?#+'

/** A write of which nobody knows whether it took effect has done so by then, or never. */
const GRACE_MS = 3_000

/** Plays one case after the other as one user, and looks at all of the user's files after each. */
export class Worker {
  readonly #options: WorkerOptions
  readonly #oracle = new Oracle()
  readonly #uploads: UploadWatch
  /** Of the file that is there before each case; no other user's. */
  readonly #content: Buffer<ArrayBuffer>
  #etag = ''
  #findings: string[] = []

  constructor(options: WorkerOptions) {
    this.#options = options
    const { userId } = options
    this.#content = Buffer.from(`the file that was there before, of ${userId}\r\n`.repeat(20))
    const ask = (request: Omit<Request, 'agent' | 'port'>) => this.#ask(request)
    this.#uploads = new UploadWatch({ userId, oracle: this.#oracle, ask })
  }

  case(number: number): FuzzCase {
    const { seed, userId, cookie, adminToken } = this.#options
    const kept = { name: KEPT, etag: this.#etag }
    const fresh = `f-${number}${['', '/b', '/uploads/b', '/b/'][number % 4]}`
    return buildCase({
      seed,
      number,
      subject: {
        userId,
        cookie,
        adminToken,
        kept,
        upload: this.#uploads.open,
        fresh,
      },
    })
  }

  /** Puts the user's files into the state in which every case begins. */
  async prepare(): Promise<void> {
    this.#etag = await this.#write('PUT', KEPT, this.#content)
    await this.#uploads.renew()
  }

  async play(number: number, { silenceMs = this.#options.silenceMs } = {}): Promise<void> {
    const { ports, tally, userId } = this.#options
    const fuzzCase = this.case(number)
    const bytes = bytesOf(fuzzCase)
    const connection = readRequests(bytes)
    const isPublic = fuzzCase.listener === 'public'
    const effects = connection.requests.map((request) =>
      isPublic ? effectOf(request, this.#files()) : undefined,
    )
    const writes = effects.map((effect) =>
      beginAll(this.#oracle, { userId, effect: effect ?? new Map() }),
    )
    const startedAt = performance.now()
    const played = await exchange(fuzzCase, {
      ...this.#options,
      silenceMs,
      port: ports[fuzzCase.listener],
    })
    const { responses, faults } = judge(played, {
      fuzzCase,
      connection,
      effects,
      judgeKept: (content) => this.#oracle.judge({ file: `${userId}/${KEPT}`, content, startedAt }),
      keptTargets: spellings(KEPT).map((spelling) => `/users/me/repo/${spelling}`),
      checkAnswer: this.#options.checkAnswer,
    })
    this.#findings.push(...faults)
    for (const [at, opened] of writes.entries()) {
      const [request, response] = [connection.requests[at], responses[at]]
      for (const write of opened) {
        if (response === undefined || request?.isWhole === false) write.lose(GRACE_MS)
        else if (isDone(response, request)) write.acknowledge()
        else write.refuse()
      }
    }
    const sent = connection.requests.map((request, at) => ({ request, response: responses[at] }))
    this.#findings.push(...(await this.#uploads.check(isPublic ? sent : [])))
    await this.#lookAtFiles(effects.flatMap((effect) => Array.from(effect?.keys() ?? [])))
    tally.count(responses.map(({ status }) => status))
    for (const text of this.#findings)
      tally.report({ number, text, bytes, received: played.received })
    this.#findings = []
  }

  /** What each file that was ever written may hold now, by name. */
  #files(): ReadonlyMap<string, readonly string[]> {
    const now = performance.now()
    const start = `${this.#options.userId}/`
    return new Map(
      this.#oracle
        .files()
        .map((file) => [file.slice(start.length), [...this.#oracle.allowed(file, now)]]),
    )
  }

  /** Holds the listing and the content of every file against the oracle, and makes the files as they were before. */
  async #lookAtFiles(written: readonly string[]): Promise<void> {
    const startedAt = performance.now()
    const { body } = await this.#ask({ method: 'GET', path: '/users/me/repo' })
    const { files } = JSON.parse(body?.toString() ?? '') as { files: ListedFile[] }
    const found = new Map(files.map((file) => [file.name, file]))
    for (const name of new Set([KEPT, ...written, ...found.keys()])) {
      const content = found.get(name)?.sha256 ?? ABSENT
      this.#note(name, content, startedAt)
      if (content !== ABSENT) await this.#lookAt(name)
      if (name !== KEPT && content !== ABSENT) await this.#write('DELETE', name)
    }
    const kept = found.get(KEPT)
    this.#etag =
      kept?.sha256 === sha256(this.#content)
        ? kept.etag
        : await this.#write('PUT', KEPT, this.#content)
  }

  async #lookAt(name: string): Promise<void> {
    const startedAt = performance.now()
    const { status, body } = await this.#ask({ method: 'GET', path: pathOf(name) })
    if (status !== 200 && status !== 404) this.#findings.push(`${name} is answered with ${status}`)
    this.#note(name, status === 200 ? sha256(body ?? Buffer.alloc(0)) : ABSENT, startedAt)
  }

  #note(name: string, content: string, startedAt: number): void {
    const fault = this.#oracle.judge({
      file: `${this.#options.userId}/${name}`,
      content,
      startedAt,
    })
    if (fault !== undefined) this.#findings.push(fault)
  }

  /** Writes as it should be done; returns the etag. */
  async #write(method: 'PUT' | 'DELETE', name: string, content = Buffer.alloc(0)): Promise<string> {
    const file = `${this.#options.userId}/${name}`
    const write = this.#oracle.begin(file, [method === 'PUT' ? sha256(content) : ABSENT])
    const headers = { 'content-length': String(content.length) }
    const { status, headers: answered } = await this.#ask({
      method,
      path: pathOf(name),
      headers,
      body: [content],
    })
    if (status === 200 || status === 204 || status === 404) write.acknowledge()
    else throw new Error(`a valid ${method} is answered with ${status}`)
    return (answered.etag ?? '').replaceAll('"', '')
  }

  async #ask(request: Omit<Request, 'agent' | 'port'>): Promise<Reply> {
    const { agent, ports, cookie } = this.#options
    const headers = { ...request.headers, cookie }
    const outcome = await send({ ...request, headers, agent, port: ports.public })
    if (outcome.kind !== 'reply')
      throw new Error(`a valid ${request.method} is ${JSON.stringify(outcome)}`)
    return outcome
  }
}

interface ListedFile {
  readonly name: string
  readonly sha256: string
  readonly etag: string
}

function isDone({ status }: ReadResponse, request: ReadRequest | undefined): boolean {
  return request !== undefined && status >= 200 && status < 300
}

function pathOf(name: string): string {
  return `/users/me/repo/${encodeURIComponent(name)}`
}
