import { type RawExchange, rawRequest } from '../support/http/raw-http.ts'
import type { Clock } from './clock.ts'
import type { Placeholders } from './placeholders.ts'

/** A request as it goes over the wire, and what it has to be answered. */
export interface Recorded {
  /** Method and target. */
  readonly line: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly status: number
  /** After how many bytes of the content the client loses its connection; it reads all when left out. */
  readonly cutAfter?: number
}

/** Makes a page of what goes over the wire between a client and the service on `port`. */
export class Recorder {
  readonly #port: number
  readonly #clock: Clock
  readonly #placeholders: Placeholders
  readonly #page: string[] = []

  constructor(options: {
    readonly port: number
    readonly clock: Clock
    readonly placeholders: Placeholders
  }) {
    this.#port = options.port
    this.#clock = options.clock
    this.#placeholders = options.placeholders
  }

  heading(title: string): void {
    this.#page.push(`## ${title}`)
  }

  text(text: string): void {
    this.#page.push(text)
  }

  /** Sends a request and writes down what went and what came; throws unless the answer has the status. */
  async exchange(recorded: Recorded): Promise<RawExchange> {
    const { line, body = '', status, cutAfter } = recorded
    const sent = `${this.#headOf(recorded)}${body}`
    this.#clock.advance()
    const answer = await rawRequest({ port: this.#port, send: [sent] })
    if (answer.status !== status) {
      throw new Error(`${line} was answered ${answer.received.toString()}, not ${status}`)
    }
    const length =
      answer.received.length - (cutAfter === undefined ? 0 : answer.body.length - cutAfter)
    this.#write(sent)
    this.#write(answer.received.toString('utf8', 0, length))
    return answer
  }

  /** Sends a request, but only this many bytes of its body; then the client loses its connection. */
  async cutOff(request: Omit<Recorded, 'status' | 'cutAfter'>, bytes: number): Promise<void> {
    const head = this.#headOf(request)
    const sent = `${head}${(request.body ?? '').slice(0, bytes)}`
    this.#clock.advance()
    await rawRequest({ port: this.#port, send: [sent], afterwards: 'end' })
    this.#write(sent)
  }

  #headOf({ line, headers = {} }: Pick<Recorded, 'line' | 'headers'>): string {
    const lines = Object.entries({ Host: 'files.example.com', ...headers })
    return [`${line} HTTP/1.1`, ...lines.map((pair) => pair.join(': ')), '', ''].join('\r\n')
  }

  toString(): string {
    return `${this.#page.join('\n\n')}\n`
  }

  #write(text: string): void {
    const shown = this.#placeholders.replace(text).replaceAll('\r\n', '\n')
    this.#page.push(`\`\`\`http\n${shown.endsWith('\n') ? shown : `${shown}\n`}\`\`\``)
  }
}
