import { createHash } from 'node:crypto'
import type { FileName } from '../../../../src/core/files/file-name.ts'
import { type Metadata, NO_METADATA } from '../../../../src/core/files/metadata.ts'
import type { UserId } from '../../../../src/core/users/user-id.ts'
import type { Version } from '../../../../src/core/objects/object-key.ts'
import type { ClientAction } from './plan.ts'
import { createRandom } from './random.ts'
import type { Process } from '../world/timeline.ts'

/** What a client asked for, and what is known of it. */
export interface Operation {
  readonly id: number
  readonly action: ClientAction
  readonly userId: UserId
  /** Of the user who had that id when it began. */
  readonly userCreatedAt: number
  readonly fileName: FileName
  /** Of an upload, also of a resumable one that is created. */
  readonly content: Content | undefined
  /** The narrow credential of its client. */
  readonly credential: string | undefined
  /** The device to which what it stores belongs. */
  readonly deviceId: string | undefined
  /** The instance that was asked. */
  readonly process: Process
  readonly startedAt: number
  /** What its client was told: `unknown` when the service does not know, or the client was told nothing. */
  answer: 'none yet' | 'done' | 'refused' | 'unknown'
  /** Whether it has had its effect on the ledger. */
  isApplied: boolean
  /** Of an upload: whether the service has been told that the request ended well. */
  hasEnded: boolean
  /** Of an upload: whether a commit was asked for. */
  hasAskedCommit: boolean
  /** Of an upload, once it has begun. */
  version: Version | undefined
  /** Of an append to a resumable upload, once it has begun. */
  append: SentAppend | undefined
}

/** What the client of an append sends. */
export interface SentAppend {
  /** Its offset. */
  readonly from: number
  readonly bytes: Buffer
  /** How many of the bytes it has sent. */
  sent: number
  /** Whether its bytes may count: its checksum is not wrong. */
  readonly isGood: boolean
}

export interface Content {
  readonly bytes: Buffer
  readonly sha256: string
}

/** Content that no other operation has, as far as its size allows. */
export function contentOf(id: number, size: number): Content {
  const random = createRandom(id)
  const bytes = Buffer.from(Array.from({ length: size }, () => random.below(256)))
  return { bytes, sha256: digest(bytes) }
}

/** So many bytes of JSON; `{}` for 0. */
export function metadataOf(bytes: number): Metadata {
  if (bytes === 0) return NO_METADATA
  const length = bytes - JSON.stringify({ note: '' }).length
  return JSON.stringify({ note: 'ü'.repeat(length / 2) + 'x'.repeat(length % 2) }) as Metadata
}

export function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
