import { type Change, type ChangePosition, changeWithin } from '../../../core/changes/change.ts'
import { changeJson } from '../../../core/changes/change-json.ts'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Feed, FollowFeed } from '../../../core/changes/feed.ts'
import { isAppError } from '../../../core/errors.ts'
import type { UserSubject } from '../../../core/auth/subject.ts'
import { formatChangeCursor } from './cursor.ts'

/** Whether the client accepts server-sent events, and names them before JSON. */
export function wantsEventStream({ headers }: FastifyRequest): boolean {
  const [type = ''] = headers.accept?.split(/[,;]/, 1) ?? []
  return type.trim().toLowerCase() === 'text/event-stream'
}

/** What a client that reconnects has received last. */
export function lastEventId({ headers }: FastifyRequest): string | undefined {
  const id = headers['last-event-id']
  return typeof id === 'string' && id !== '' ? id : undefined
}

/** Proxies and browsers end a connection without bytes after a minute or later. */
const HEARTBEAT_MS = 15_000

/** A page that waits for its reader takes 50 KB. */
const EVENTS_PER_PAGE = 64

/** So that an expired token ends, and that clients return to all instances after one was added. */
const STREAM_MS = 15 * 60_000

const RECONNECT_MS = 1_000

/** One to two times as long, so that not all clients return at once. */
function spread(ms: number): number {
  return Math.round(ms * (1 + Math.random()))
}

interface SendEvents {
  readonly feed: Feed
  readonly subject: UserSubject
  readonly after: ChangePosition
  readonly ends: FollowFeed['ends']
  readonly inTurn: FollowFeed['inTurn']
}

/**
 * Sends each change as a server-sent event (WHATWG HTML, 9.2), and a comment after each quiet period. Resolves when the
 * answer is over. A failure before the answer begins rejects; a later one ends the stream, and the client reconnects.
 */
export async function sendEvents(
  reply: FastifyReply,
  { feed, subject, after, ends, inTurn }: SendEvents,
): Promise<FastifyReply> {
  const pages = feed.follow({
    subject,
    after,
    ends,
    maxMs: spread(STREAM_MS),
    inTurn,
    limit: EVENTS_PER_PAGE,
    quietMs: HEARTBEAT_MS,
  })
  const { request } = reply
  try {
    const { value: first } = await pages.next()
    const begin = `retry: ${spread(RECONNECT_MS)}\nid: ${formatChangeCursor(subject, after)}\n\n`
    const text = begin + textOf(subject, first ?? [])
    // nginx would collect the events before it passes them on.
    void reply.headers({
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
    })
    void reply.send(
      Readable.from(textsOf(subject, { text, pages, request }), { objectMode: false }),
    )
    await finished(reply.raw).catch(() => undefined)
  } finally {
    await pages.return()
  }
  return reply
}

interface Texts {
  readonly text: string
  readonly pages: AsyncIterable<readonly Change[]>
  readonly request: FastifyRequest
}

/** Ends also with a failure of the pages. A client that reconnects gets it as a problem document. */
async function* textsOf(
  subject: UserSubject,
  { text, pages, request }: Texts,
): AsyncGenerator<string> {
  yield text
  try {
    for await (const page of pages) yield page.length === 0 ? ': quiet\n\n' : textOf(subject, page)
  } catch (error) {
    if (!isAppError(error)) throw error
    request.problem = error.code
    if (error.code === 'unavailable') request.log.error({ err: error }, 'following changes failed')
  }
}

/** A change that the caller does not see only moves the `id`, which dispatches no event. */
function textOf(subject: UserSubject, changes: readonly Change[]): string {
  const events = changes.map((change) => {
    const id = `id: ${formatChangeCursor(subject, change)}\n`
    const shown = changeWithin(subject, change)
    if (shown === undefined) return `${id}\n`
    return `${id}event: change\ndata: ${JSON.stringify(changeJson(shown))}\n\n`
  })
  return events.join('')
}
