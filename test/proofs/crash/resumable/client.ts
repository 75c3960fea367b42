import { createHash } from 'node:crypto'
import type { Random } from '../../simulation/plan/random.ts'
import { sentBody } from '../content.ts'
import type { Request } from '../request.ts'

const KIB = 2 ** 10
const MIB = 2 ** 20

export const TUS = { 'tus-resumable': '1.0.0' } as const

export const UPLOADS = '/users/me/uploads'

export type TusRequest = Pick<
  Request,
  'method' | 'path' | 'headers' | 'body' | 'pauseMs' | 'breaksOff'
>

export interface Piece {
  readonly content: Buffer
  /** Bytes after which the client closes the connection, if it does. */
  readonly breaksOffAt: number | undefined
  readonly offset: number
  /** Set if the append declares the length. */
  readonly declares: boolean
  /** Whether the bytes are others than the checksum says. */
  readonly isWrong: boolean
}

/** The creation of an upload, with the first bytes of its content or without. */
export function creation(
  name: string,
  {
    content,
    first,
    isDeferred,
    random,
  }: {
    readonly content: Buffer
    readonly first: number
    readonly isDeferred: boolean
    readonly random: Random
  },
): TusRequest {
  const sent = content.subarray(0, first)
  const headers = {
    ...TUS,
    'upload-metadata': `filename ${Buffer.from(name).toString('base64')}`,
    ...(isDeferred ? { 'upload-defer-length': '1' } : { 'upload-length': `${content.length}` }),
    ...(random.chance(0.2) && { 'repr-digest': reprDigest(content) }),
  }
  if (first === 0) return { method: 'POST', path: UPLOADS, headers: { ...headers, ...NO_CONTENT } }
  const body = bodyOf(sent, random)
  const checksum = random.chance(0.2) ? checksumOf(sent, random) : {}
  return {
    method: 'POST',
    path: UPLOADS,
    ...body,
    headers: { ...headers, ...body.headers, ...checksum },
  }
}

/** An append of `piece.content`, which tus clients send in several forms. */
export function append(path: string, piece: Piece, random: Random): TusRequest {
  const { content, offset, declares, isWrong, breaksOffAt } = piece
  const isOverride = random.chance(0.1)
  // What the service would record if it did not check.
  const sent = isWrong ? Buffer.from(content.map((byte) => byte ^ 1)) : content
  const body = bodyOf(sent, random)
  return {
    method: isOverride ? 'POST' : 'PATCH',
    path,
    ...body,
    ...(breaksOffAt !== undefined && { body: [sent.subarray(0, breaksOffAt)], breaksOff: true }),
    headers: {
      ...TUS,
      ...body.headers,
      'upload-offset': `${offset}`,
      ...(declares && { 'upload-length': `${offset + content.length}` }),
      ...(isOverride && { 'x-http-method-override': 'PATCH' }),
      ...((isWrong || random.chance(0.2)) && checksumOf(content, random)),
    },
  }
}

export function cancellation(path: string, random: Random): TusRequest {
  if (random.chance(0.8)) return { method: 'DELETE', path, headers: TUS }
  const headers = { ...TUS, ...NO_CONTENT, 'x-http-method-override': 'DELETE' }
  return { method: 'POST', path, headers }
}

/** Of an append. */
export function pickAppend(random: Random): number {
  return 64 * KIB + random.below(3 * MIB - 64 * KIB + 1)
}

/** Of a whole content: some appends as a rule, and the sizes at which a part begins. */
export function pickContent(random: Random): number {
  const kind = random.next()
  if (kind < 0.03) return 0
  if (kind < 0.2) return 1 + random.below(256 * KIB)
  if (kind < 0.7) return 1 + random.below(4 * MIB)
  if (kind < 0.8) return 8 * MIB * (1 + random.below(2)) - 1 + random.below(3)
  return random.below(20 * MIB)
}

/** Of a whole content, as the header has it. */
export function reprDigest(content: Buffer): string {
  return `sha-256=:${createHash('sha256').update(content).digest('base64')}:`
}

function checksumOf(content: Buffer, random: Random): Record<string, string> {
  const algorithm = random.chance(0.5) ? 'sha1' : 'sha256'
  const digest = createHash(algorithm).update(content).digest('base64')
  return { 'upload-checksum': `${algorithm} ${digest}` }
}

const NO_CONTENT = { 'content-length': '0' } as const

function bodyOf(content: Buffer, random: Random) {
  const sent = sentBody(content, random)
  return {
    ...sent,
    headers: { 'content-type': 'application/offset+octet-stream', ...sent.headers },
  }
}
