import { createHash } from 'node:crypto'
import type { FileName } from '../../../src/core/files/file-name.ts'
import type { UserId } from '../../../src/core/users/user-id.ts'
import type { Version } from '../../../src/core/objects/object-key.ts'
import type { ClientAction } from './plan.ts'
import type { Process } from '../world/timeline.ts'

/** What a client asked for, and what is known of it. */
export interface Operation {
  readonly id: number
  readonly action: ClientAction
  readonly userId: UserId
  /** Of the user who had that id when it began. */
  readonly userCreatedAt: number
  readonly fileName: FileName
  /** Of an upload. */
  readonly content: Content | undefined
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
}

export interface Content {
  readonly bytes: Buffer
  readonly sha256: string
}

/** Content that no other operation has, as far as its size allows. */
export function contentOf(id: number, size: number): Content {
  const bytes = Buffer.alloc(size, `${id};`)
  return { bytes, sha256: digest(bytes) }
}

export function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
