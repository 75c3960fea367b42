import { unexpectedResponse } from './errors.ts'
import type { components } from './generated/api.ts'
import type { Answer } from './http/answer.ts'
import type { Http } from './http/http.ts'
import { pause } from './http/abort.ts'
import { isTemporary } from './http/retry.ts'

type Row = components['schemas']['RepositoryChange']
type FileMember = 'name' | 'version' | 'size' | 'sha256' | 'visibility' | 'media_type' | 'device_id'
type CapacityMember = 'capacity' | 'used'
type FileChange = Exclude<Extract<Row['type'], `file.${string}`>, 'file.renamed'>
type CapacityChange = Extract<Row['type'], `capacity.${string}`>

/** What a change of these types has. The other members are there to be named in a destructuring. */
type Having<Type, Has extends keyof Row> = { readonly type: Type } & Required<
  Pick<Row, Has | 'sequence' | 'at'>
> & { readonly [K in Exclude<keyof Row, Has | 'type' | 'sequence' | 'at'>]?: undefined }

/** A committed change, and the cursor after it. Its `type` tells which members it has. */
export type Change = { readonly cursor: string } & (
  | Having<FileChange, FileMember>
  | Having<'file.renamed', FileMember | 'previous_name'>
  | Having<CapacityChange, CapacityMember>
)

export interface FollowOptions {
  /**
   * Where to begin: the `changes_cursor` of a listing, or the `cursor` of the last change that was handled. Without it,
   * at the present.
   */
  readonly cursor?: string | undefined
  /** Ends the iteration, which rejects with its reason. */
  readonly signal?: AbortSignal | undefined
}

export interface Changes {
  /**
   * Every committed change after the cursor, once and in order, for as long as it is iterated. Reconnects after lost
   * connections, and waits longer each time, without end. Ignore types that you do not know.
   *
   * Rejects with `cursor_expired` if changes after the cursor are no longer known: list the files again, and follow the
   * new `changes_cursor`. Rejects with the code of a refusal, for example when the token is revoked.
   */
  follow(options?: FollowOptions): AsyncIterable<Change>
}

type ChangePage = components['schemas']['ChangePage']

const PATH = 'users/me/changes'

/** The service sends a comment every 15 seconds. */
const SILENCE_MS = 45_000
const MAX_RECONNECT_MS = 30_000

export function createChanges(http: Http): Changes {
  async function* follow({ cursor, signal }: FollowOptions = {}): AsyncGenerator<Change> {
    const present = (): Promise<ChangePage> => http.json({ path: PATH, signal })
    let at = cursor ?? (await present()).next_cursor
    for (let failures = 0; ;) {
      const headers = { accept: 'text/event-stream' }
      let answer: Answer | undefined
      let reconnectMs = 1000 * 2 ** failures
      let retryAfterMs = 0
      try {
        answer = await http.open({ path: PATH, query: { cursor: at }, headers, signal })
        if (answer.headers.get('content-type')?.startsWith('text/event-stream') !== true)
          throw unexpectedResponse(answer.status, { missing: 'events' })
        for await (const { id, data, retry } of eventsOf(answer)) {
          failures = 0
          if (retry !== undefined) reconnectMs = Number(retry)
          if (id !== undefined) at = id
          if (data !== undefined) yield { ...(JSON.parse(data) as Change), cursor: at }
        }
      } catch (error) {
        if (!isTemporary(error)) throw error
        failures += 1
        retryAfterMs = 1000 * (error.retryAfter ?? 0)
      } finally {
        answer?.cancel()
      }
      const random = Math.min(reconnectMs, MAX_RECONNECT_MS) * (0.5 + Math.random() / 2)
      await pause(Math.max(random, retryAfterMs), signal)
    }
  }
  return { follow }
}

interface ServerEvent {
  readonly id?: string
  readonly data?: string
  /** Milliseconds before a reconnect. */
  readonly retry?: string
}

/** The events of a stream (WHATWG HTML, 9.2.6), as far as the service uses the format: one line for each field. */
async function* eventsOf(answer: Answer): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const bytes = await answer.read(SILENCE_MS)
    if (bytes === undefined) return
    text += decoder.decode(bytes, { stream: true })
    const blocks = text.split('\n\n')
    // An event that is cut off comes again after the reconnect.
    text = blocks.pop() ?? ''
    for (const block of blocks) yield parseEvent(block)
  }
}

function parseEvent(block: string): ServerEvent {
  const fields = block.split('\n').map((line) => {
    const [name = '', ...value] = line.split(': ')
    return [name, value.join(': ')] as const
  })
  return Object.fromEntries(fields)
}
