import { parseFileName } from '../../../../src/core/files/file-name.ts'
import type { AbortUpload } from '../../../../src/core/uploads/upload-ledger.ts'
import type { Ledger } from '../../../../src/database/ledger.ts'
import {
  createVersion,
  objectKey,
  type ObjectKey,
} from '../../../../src/core/objects/object-key.ts'
import type { Piece } from '../../../../src/core/objects/append-store.ts'
import type {
  Claim,
  ClaimAppend,
  CreateResumable,
  NamedResumable,
  PrepareAppend,
  RecordAppend,
  ResumableUpload,
} from '../../../../src/core/resumable/resumable-ledger.ts'
import type { Caller } from '../../../../src/core/users/caller.ts'
import { LONG_MS } from '../fixture.ts'

export const DAY_MS = 24 * LONG_MS

/** Of all uploads in these tests. */
export const PART_SIZE = 8

/** How long after its upload's lease, or after it was left, a tail object is kept. */
export const TAIL_RETENTION_MS = 15 * 60_000

/** The resumable uploads of a user, in the fewest words. */
export interface Resumables extends Caller {
  create(
    name: string,
    length?: number,
    options?: Partial<CreateResumable>,
  ): Promise<ResumableUpload>
  find(upload: NamedResumable): Promise<ResumableUpload>
  prepare(upload: NamedResumable, options: Partial<PrepareAppend>): Promise<void>
  /** Without a tail key unless it is told one. */
  claim(upload: NamedResumable, options?: Partial<ClaimAppend>): Promise<Claim | undefined>
  /** As `claim`, which has to succeed. */
  hold(upload: NamedResumable, options?: Partial<ClaimAppend>): Promise<Claim>
  /** At the offset and under the epoch of `upload`, with no pieces, and releases it. */
  record(upload: ResumableUpload, options?: Partial<RecordAppend>): Promise<boolean>
  /** One whole append to the offset; reaching the length seals. */
  append(upload: NamedResumable, offset: number): Promise<void>
  finish(upload: NamedResumable, holderMs?: number): Promise<ResumableUpload | undefined>
  abort(upload: NamedResumable, options?: Partial<AbortUpload>): ReturnType<Ledger['abort']>
  tailKey(): ObjectKey
  through(ledger: Ledger): Resumables
}

export function resumablesOf(ledger: Ledger, { userId, userCreatedAt }: Caller): Resumables {
  const caller = { userId, userCreatedAt }
  const resumables: Resumables = {
    ...caller,
    create: (name, length, options = {}) => {
      const version = options.version ?? createVersion()
      return ledger.createResumable({
        ...caller,
        version,
        objectKey: objectKey(userId, version),
        name: parseFileName(name),
        length,
        partSize: PART_SIZE,
        metadata: 'filename YQ==',
        visibility: undefined,
        precondition: undefined,
        expectedSha256: undefined,
        emptyLifetimeMs: DAY_MS,
        maxLifetimeMs: 7 * DAY_MS,
        ...options,
      })
    },
    find: async ({ version }) => {
      const found = await ledger.findResumable({ ...caller, version })
      if (found === undefined) throw new Error('There is no such upload.')
      return found
    },
    prepare: ({ version }, options) =>
      ledger.prepareAppend({ ...caller, version, bytes: 0, ...options }),
    claim: ({ version }, options = {}) =>
      ledger.claimAppend({
        ...caller,
        version,
        holder: 'here',
        holderMs: LONG_MS,
        offset: 0,
        tailKey: undefined,
        ...options,
      }),
    hold: async (upload, options) => {
      const claim = await resumables.claim(upload, options)
      if (claim === undefined) throw new Error('The upload was not claimed.')
      return claim
    },
    record: ({ version, epoch, offset, storeState }, options = {}) =>
      ledger.recordAppend({
        userId,
        version,
        epoch,
        offset,
        storeState,
        replacedFrom: options.offset ?? offset,
        pieces: [],
        holderMs: undefined,
        ...options,
      }),
    append: async (upload, offset) => {
      const before = await resumables.find(upload)
      const claim = await resumables.hold(upload, { offset: before.offset })
      const sealed = offset === before.length ? { digest: undefined } : undefined
      const isRecorded = await resumables.record(claim.upload, { offset, sealed })
      if (!isRecorded) throw new Error('The append was not recorded.')
    },
    finish: ({ version }, holderMs = LONG_MS) =>
      ledger.claimFinish({ ...caller, version, holder: 'here', holderMs }),
    abort: ({ version }, options = {}) => ledger.abort({ userId, version, ...options }),
    tailKey: () => objectKey(userId, createVersion()),
    through: (other) => resumablesOf(other, caller),
  }
  return resumables
}

export function part(at: number, receipt = `part ${at}`): Piece {
  return { firstByte: at * PART_SIZE, size: PART_SIZE, receipt, objectKey: undefined }
}

export function tailPiece(
  firstByte: number,
  { size, key }: { readonly size: number; readonly key: ObjectKey },
): Piece {
  return { firstByte, size, receipt: `tail ${firstByte}`, objectKey: key }
}
