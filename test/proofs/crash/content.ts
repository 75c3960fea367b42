import { createCipheriv, createHash } from 'node:crypto'
import type { Random } from '../simulation/plan/random.ts'
import { fileBody } from '../../support/http/multipart-body.ts'
import { ABSENT, type Content } from './oracle.ts'
import { isStatus, type Outcome } from './request.ts'

/** Bytes that no other name makes, the same at every call, so that nothing has to be kept to tell them again. */
export function contentOf(name: string, size: number): Buffer {
  const key = createHash('sha256').update(name).digest()
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size))
}

export function sha256(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex')
}

const KIB = 2 ** 10
const MIB = 2 ** 20

/** As `object-store/s3/put-object.ts` has it: what is larger goes up in parts. */
const PART = 8 * MIB

/** Mostly small, as files are; every kind of upload to S3 occurs, and so do the sizes where one becomes another. */
export function pickSize(random: Random): number {
  const kind = random.next()
  if (kind < 0.05) return 0
  if (kind < 0.75) return 1 + random.below(100 * KIB)
  if (kind < 0.92) return random.below(2 * MIB)
  if (kind < 0.97) return PART * (1 + random.below(2)) - 1 + random.below(3)
  return PART + random.below(20 * MIB - PART + 1)
}

/** A body as it goes over the connection: of known length or in chunks, in one go or slowly. */
export function sentBody(whole: Buffer, random: Random) {
  const pieces = random.chance(0.4) ? 4 : 1
  const step = Math.ceil(whole.length / pieces) || 1
  const body = Array.from({ length: pieces }, (_, at) => whole.subarray(at * step, (at + 1) * step))
  const length = random.chance(0.85) ? { 'content-length': String(whole.length) } : {}
  const headers: Record<string, string> = length
  return { headers, body, pauseMs: random.below(60) }
}

/** An upload in one request: a form or the bare file. */
export function uploadRequest(content: Buffer, random: Random) {
  const isForm = random.chance(0.5)
  const whole = isForm ? fileBody(content) : content
  const type = isForm
    ? { 'content-type': 'multipart/form-data; boundary=XBOUNDARY' }
    : { 'content-type': 'application/octet-stream' }
  const sent = sentBody(whole, random)
  return { method: isForm ? 'POST' : 'PUT', ...sent, headers: { ...type, ...sent.headers } }
}

/** What a download found; `undefined` if it did not come to its end. */
export function contentIn(outcome: Outcome): Content | undefined {
  if (isStatus(outcome, 404)) return ABSENT
  if (isStatus(outcome, 200) && outcome.body !== undefined) return sha256(outcome.body)
  return undefined
}
