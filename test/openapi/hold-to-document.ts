import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { type AnswerCheck, createAnswerCheck, type OpenApi } from './answer-check.ts'

export interface Conformance {
  /** Throws for every answer so far that the document does not describe. */
  assertConforms(): void
}

export interface Held {
  readonly app: FastifyInstance
  readonly basePath?: string
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Holds every answer of a listener against its own OpenAPI document: operation, status, headers, media type and JSON.
 * Not seen are the refusals of the HTTP parser, which never reach a route.
 */
export async function holdToDocument(held: Held): Promise<Conformance> {
  const check = await checkOf(held)
  const faults: string[] = []
  function watch(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url = '' } = request
    const answer = record(response)
    // Of what is cut off only its sender knows what it was to be.
    response.once('finish', () => {
      const { statusCode: status } = response
      const body = answer.body()
      try {
        const fault = check({ method, target: url, status, headers: answer.headers(), body })
        if (fault !== undefined) faults.push(fault)
      } catch (error) {
        faults.push(
          `${method} ${url} answered ${status}, which cannot be checked: ${String(error)}`,
        )
      }
    })
  }
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    held.app.server.prependListener(event, watch)
  }
  return {
    assertConforms() {
      if (faults.length === 0) return
      throw new Error(`answers that the OpenAPI document does not describe:\n${faults.join('\n')}`)
    },
  }
}

/** Of one document there is one check, since compiling its schemas takes longer than most tests. */
const checks = new Map<string, AnswerCheck>()

async function checkOf({ app, basePath = '', headers = {} }: Held): Promise<AnswerCheck> {
  const { payload } = await app.inject({ url: `${basePath}/openapi.json`, headers })
  const check = checks.get(payload) ?? createAnswerCheck(JSON.parse(payload) as OpenApi, basePath)
  checks.set(payload, check)
  return check
}

/** Lets what is sent pass, and keeps what of it is to be read. */
function record(response: ServerResponse): {
  headers(): Record<string, string>
  body(): Buffer
} {
  const chunks: Buffer[] = []
  let written: object = {}
  const keep = (chunk: unknown): void => {
    const isText = typeof chunk === 'string' || chunk instanceof Uint8Array
    // Content of files is not looked at.
    if (isText && !isFile(headers())) chunks.push(Buffer.from(chunk as string))
  }
  function headers(): Record<string, string> {
    const all = Object.entries({ ...response.getHeaders(), ...written })
    return Object.fromEntries(all.map(([name, value]) => [name.toLowerCase(), String(value)]))
  }
  before(response, 'writeHead', (args) => {
    const last = args.at(-1)
    if (typeof last === 'object' && last !== null) written = last
  })
  before(response, 'write', ([chunk]) => keep(chunk))
  before(response, 'end', ([chunk]) => keep(chunk))
  return { headers, body: () => Buffer.concat(chunks) }
}

function isFile(headers: Readonly<Record<string, string>>): boolean {
  return headers['content-type'] === 'application/octet-stream'
}

type Call = (...args: unknown[]) => unknown

/** Has `first` see the arguments of each call of that method. */
function before(
  response: ServerResponse,
  method: 'writeHead' | 'write' | 'end',
  first: (args: readonly unknown[]) => void,
): void {
  const seen = new Proxy(Reflect.get(response, method) as Call, {
    apply(target, self, args: unknown[]): unknown {
      first(args)
      return Reflect.apply(target, self, args)
    },
  })
  Reflect.set(response, method, seen)
}
