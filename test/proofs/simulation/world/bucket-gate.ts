import { Readable } from 'node:stream'
import { type FakeS3, keyOf, operationOf } from '../../../support/faults/fake-s3.ts'
import {
  failure,
  type FakeRequest,
  type FakeResponse,
  xml,
} from '../../../support/faults/s3-faults.ts'
import type { S3Fault } from './faults.ts'
import { MAX_ZOMBIE_MS } from '../plan/parameters.ts'
import { latency, type Seam } from './seam.ts'

/** Longer than the adapter waits for most calls, at times. */
const MAX_SLOW_MS = 150_000

export interface BucketGate {
  /** Stands in for the SDK's transport. */
  readonly handle: (
    request: FakeRequest,
    options?: { readonly abortSignal?: unknown },
  ) => Promise<{ response: FakeResponse }>
  /** Bodies of downloads that the service has been given. */
  readonly bodies: readonly Readable[]
}

/**
 * A bucket with a network and its faults before it: a request is sent, has its effect and is answered in three events.
 */
export function gateBucket(bucket: FakeS3, seam: Seam): BucketGate {
  const bodies: Readable[] = []
  return {
    bodies,
    handle: (request, { abortSignal } = {}) => {
      const signal = abortSignal instanceof AbortSignal ? abortSignal : undefined
      return exchange({ bucket, seam, bodies, request, signal })
    },
  }
}

interface Exchange {
  readonly bucket: FakeS3
  readonly seam: Seam
  readonly bodies: Readable[]
  readonly request: FakeRequest
  readonly signal: AbortSignal | undefined
}

async function exchange(options: Exchange): Promise<{ response: FakeResponse }> {
  const { seam, bodies, request, signal } = options
  const { timeline, random, faults, observer } = seam
  const operation = operationOf(request)
  const fault = faults.s3(operation)
  const name = `s3 ${operation}${fault === undefined ? '' : ` (${fault})`}`
  const sent = { key: keyOf(request), actor: timeline.actor() }
  if (operation === 'DeleteObject') observer.removing(sent)
  if (operation === 'PutObject' || operation === 'UploadPart') {
    observer.sending({ ...sent, method: operation, isTruncated: fault === 'truncated' })
  }
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal?.reason)
    const answer: Answer = (after, response) => {
      const run = (): void => {
        if (response === undefined) reject(reset())
        else resolve({ response })
        const body = response?.body
        if (body !== undefined && signal?.aborted !== true) bodies.push(body)
      }
      timeline.add({ after, label: `${name} answers`, run })
    }
    const apply: Apply = (after, then) => {
      const run = async (): Promise<void> => {
        then(await effect({ ...options, fault }))
        observer.stored()
      }
      timeline.add({ after, label: `${name} applies`, isOutside: true, run })
    }
    const run = (): void => serve({ fault, request, random }, { answer, apply })
    const recall = timeline.add({ after: latency(random), label: `${name} arrives`, run })
    // What has arrived takes its course; what has not never will.
    signal?.addEventListener('abort', () => {
      recall()
      abort()
    })
    if (signal?.aborted === true) {
      recall()
      abort()
    }
  })
}

/** Answers after a while; `undefined` breaks the connection. */
type Answer = (after: number, response: FakeResponse | undefined) => void
type Apply = (after: number, then: (response: FakeResponse) => void) => void

interface Serving extends Pick<Seam, 'random'> {
  readonly fault: S3Fault | undefined
  readonly request: FakeRequest
}

function serve(
  { fault, request, random }: Serving,
  { answer, apply }: { readonly answer: Answer; readonly apply: Apply },
): void {
  const soon = (): number => latency(random)
  const late = (): number => random.below(MAX_ZOMBIE_MS)
  switch (fault) {
    case 'refused':
      return answer(soon(), failure(503, 'SlowDown', request))
    case 'reset':
      return answer(soon(), undefined)
    case 'answer lost':
      return apply(soon(), () => answer(soon(), undefined))
    case 'late':
      answer(soon(), undefined)
      return apply(late(), () => undefined)
    case 'silent':
      return
    case 'silent and late':
      return apply(late(), () => undefined)
    case 'slow':
      return apply(random.below(MAX_SLOW_MS), (response) => answer(soon(), response))
    case 'slow answer':
      return apply(soon(), (response) => answer(random.below(MAX_SLOW_MS), response))
    case 'error in 200':
      return answer(soon(), xml(200, '<Error><Code>InternalError</Code></Error>\n'))
    case 'empty 200':
      return answer(soon(), xml(200, ''))
    case undefined:
    case 'truncated':
    case 'cut body':
    case 'short body':
    case 'stalled body':
      return apply(soon(), (response) => answer(soon(), response))
  }
}

/** What the request does to the bucket, at this moment. */
async function effect(
  options: Exchange & { readonly fault: S3Fault | undefined },
): Promise<FakeResponse> {
  const { bucket, seam, request, fault, signal } = options
  const known = new Set(bucket.uploads.keys())
  const response = bucket.apply(fault === 'truncated' ? truncated(request) : request)
  const isCut = fault === 'late' || fault === 'silent and late' || signal?.aborted === true
  if (isCut || seam.timeline.actor()?.process.alive === false) {
    for (const id of bucket.uploads.keys()) if (!known.has(id)) seam.strays.add(id)
  }
  if (operationOf(request) !== 'GetObject' || response.statusCode >= 300) return response
  const content: Buffer = Buffer.concat((await response.body?.toArray()) ?? [])
  return { ...response, body: deliver(content, { seam, fault }) }
}

function truncated(request: FakeRequest): FakeRequest {
  const { body } = request
  return body instanceof Uint8Array ? { ...request, body: body.subarray(0, -1) } : request
}

/** The content in two pieces, each an event. */
function deliver(
  content: Buffer,
  { seam, fault }: { readonly seam: Seam; readonly fault: S3Fault | undefined },
): Readable {
  const { timeline, random } = seam
  const middle = Math.ceil(content.length / 2)
  const pieces = [content.subarray(0, middle), content.subarray(middle)].filter(isNotEmpty)
  const send = (): void => {
    const piece = pieces.shift()
    if (piece === undefined) body.push(null)
    else if (pieces.length > 0 || fault === undefined) body.push(piece)
    else if (fault === 'cut body') body.destroy(reset())
    else if (fault === 'short body') body.push(null)
    else if (fault !== 'stalled body') body.push(piece)
  }
  const body = new Readable({
    read: () => void timeline.add({ after: latency(random), label: 's3 body', run: send }),
  })
  return body
}

function isNotEmpty(piece: Buffer): boolean {
  return piece.length > 0
}

function reset(): Error {
  return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
}
