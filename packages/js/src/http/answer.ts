import { ANSWER_MS, type Watchdog } from './watchdog.ts'

/** A successful response whose content is still to be read. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The next bytes, or `undefined` at the end. Rejects with `connection_lost` if none arrive within `stallMs`. */
  read(stallMs: number): Promise<Uint8Array | undefined>
  cancel(): void
}

/** A successful response that has arrived whole. */
export interface Reply {
  readonly status: number
  readonly headers: Pick<Headers, 'get'>
  readonly text: string
}

interface Reading {
  readonly watchdog: Watchdog
  /** The error of a read that failed. */
  readonly lost: (cause: unknown) => unknown
  /** Called when the whole response has arrived. */
  readonly end: () => void
}

/** Reads a response. `text` reads all of it, and `read` the next bytes. */
export function readAnswer(response: Response, { watchdog, lost, end }: Reading) {
  const reader = response.body?.getReader()
  async function read(stallMs: number): Promise<Uint8Array | undefined> {
    watchdog.expect(stallMs)
    try {
      return (await reader?.read())?.value
    } catch (cause) {
      throw lost(cause)
    } finally {
      watchdog.end()
    }
  }
  async function text(): Promise<string> {
    const decoder = new TextDecoder()
    let text = ''
    for (;;) {
      const bytes = await read(ANSWER_MS)
      if (bytes === undefined) break
      text += decoder.decode(bytes, { stream: true })
    }
    end()
    return text + decoder.decode()
  }
  const { status, headers } = response
  watchdog.end()
  return { status, headers, read, text, cancel: () => watchdog.abort() }
}
