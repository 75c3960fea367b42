import { Readable } from 'node:stream'
import { AppError, isAppError } from '../../../../src/core/errors.ts'
import type { IncomingFile } from '../../../../src/core/uploads/store-content.ts'
import type { SentAppend } from '../plan/operation.ts'
import { CLIENT_IDLE_MS } from '../plan/parameters.ts'
import type { AppendClient } from '../plan/resumable-actions.ts'
import { latency, type Seam } from './seam.ts'

/** So many that a slow client's append is recorded on the way. */
const MAX_PIECES = 4

/** What a client sends beyond the length, as a piece of its own: all of the content has come before it. */
export const EXCESS = Buffer.from('beyond')

interface AppendBodyOptions {
  readonly append: SentAppend
  readonly client: AppendClient
  readonly isSized: boolean
  /** Aborts when the service stops reading. */
  readonly stop: AbortSignal
}

/**
 * The body of an append as its client sends it, each piece an event. As HTTP does, it ends without an error when the
 * client leaves, stalls or is stopped; `end` has the reason.
 */
export function appendBodyOf(
  { timeline, random }: Pick<Seam, 'timeline' | 'random'>,
  { append, client, isSized, stop }: AppendBodyOptions,
): IncomingFile & Disposable {
  const { bytes } = append
  const end = client === 'sends too much' ? Math.max(0, bytes.length - EXCESS.length) : bytes.length
  const pieces = [...split(bytes.subarray(0, end), random), ...split(bytes.subarray(end), random)]
  const breaksOff = client === 'breaks off' || client === 'stalls'
  const breaksAt = breaksOff ? random.below(pieces.length + 1) : -1
  const ended = Promise.withResolvers<void>()
  ended.promise.catch(() => undefined)
  let sent = 0
  let isOver = false

  function fail(error: unknown): void {
    if (isOver) return
    isOver = true
    content.push(null)
    ended.reject(error)
  }

  function send(): void {
    if (isOver) return
    if (sent === breaksAt) return fail(broken(client))
    const piece = pieces[sent]
    sent += 1
    append.sent += piece?.length ?? 0
    if (piece === undefined) isOver = true
    if (piece === undefined) ended.resolve()
    content.push(piece ?? null)
  }

  const content = new Readable({
    read() {
      const isStalled = client === 'stalls' && sent === breaksAt
      const slow = client === 'slow' ? random.below(CLIENT_IDLE_MS / 3) : latency(random)
      timeline.add({ after: isStalled ? CLIENT_IDLE_MS : slow, label: 'client sends', run: send })
    },
  })
  const onStop = (): void => fail(stoppedBy(stop))
  stop.addEventListener('abort', onStop)
  if (stop.aborted) onStop()
  const { length } = bytes
  return {
    content,
    size: isSized
      ? { min: length, announced: length, max: length }
      : { min: 0, announced: undefined },
    end: () => {
      if (!content.readableEnded) fail(unread())
      return ended.promise
    },
    [Symbol.dispose]: () => fail(unread()),
  }
}

function split(bytes: Buffer, random: Seam['random']): readonly Buffer[] {
  const cuts = Array.from({ length: random.below(MAX_PIECES) }, () =>
    random.below(bytes.length + 1),
  )
  const ends = [...cuts.sort((a, b) => a - b), bytes.length]
  return ends
    .map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end))
    .filter((piece) => piece.length > 0)
}

function broken(client: AppendClient): AppError {
  return client === 'stalls'
    ? new AppError('request_timeout', 'The body stopped coming.')
    : new AppError('truncated_body', 'The body broke off.')
}

function stoppedBy({ reason }: AbortSignal): AppError {
  if (isAppError(reason)) return reason
  return new AppError('unavailable', 'The service stopped reading.', { cause: reason })
}

function unread(): AppError {
  return new AppError('truncated_body', 'The body was not read to its end.')
}
