import type { UploadPieceRow } from '../../../../src/database/schema.ts'
import type { FakeS3 } from '../../../support/faults/fake-s3.ts'
import { RETENTION_MS } from '../plan/parameters.ts'
import type { LedgerState, ResumableRow } from './ledger-state.ts'
import type { Model } from './model.ts'
import { isUnsafe } from './resumable-changes.ts'
import { demand } from './violation.ts'

/** The rows of each unfinished upload belong together, and its tail stays as long as it lives. */
export function assertResumables(state: LedgerState, now: number): void {
  for (const row of state.resumables) {
    if (row.state !== 'pending') continue
    const { received_bytes: offset, length_bytes: length, announced_bytes: announced } = row
    // Of a narrow credential's, so few bytes need not be announced.
    const isAnnounced = row.credential !== null || offset <= announced
    demand(
      length === null ? isAnnounced : offset <= length,
      'I5',
      `${offset}, ${announced} announced`,
    )
    const pieces = piecesOf(state, row)
    assertBoundaries(row, pieces)
    if (!isKept(row, now)) continue
    for (const { object_key: key } of pieces) if (key !== null) assertPutOff(state, row, key)
    if (row.tail_key !== null) assertPutOff(state, row, row.tail_key)
  }
}

function piecesOf({ pieces }: LedgerState, { version }: ResumableRow): readonly UploadPieceRow[] {
  return pieces.filter((piece) => piece.version === version)
}

/** Pieces leave no gap, and part k holds the bytes from (k - 1) * P on, whatever the appends. */
function assertBoundaries(row: ResumableRow, pieces: readonly UploadPieceRow[]): void {
  const { part_size: partSize, received_bytes: offset } = row
  let end = 0
  for (const { first_byte: firstByte, size, object_key: key } of pieces) {
    demand(firstByte === end, 'I11', `a piece begins at ${firstByte}, not at ${end}`)
    end += size
    const isLast = end === row.length_bytes && size <= partSize
    const isPart = firstByte % partSize === 0 && (size === partSize || isLast)
    demand(key !== null || isPart, 'I11', `a part of ${size} bytes at ${firstByte}`)
  }
  demand(end === offset, 'I11', `pieces up to ${end} for the offset ${offset}`)
}

/** No sweep takes the tail of an upload that has not expired, nor soon after. */
function assertPutOff({ garbage }: LedgerState, row: ResumableRow, key: string): void {
  const dueAt = garbage.find((each) => each.object_key === key)?.not_before
  const until = row.lease_until + RETENTION_MS
  demand(dueAt !== undefined && dueAt >= until, 'I7', `${key} is due at ${dueAt}, before ${until}`)
}

/** A sweep can take the tail of an upload that has expired before another sweep ends the upload. */
function isKept(row: ResumableRow, now: number): boolean {
  return row.state === 'pending' && row.lease_until + RETENTION_MS > now
}

interface Kept {
  readonly model: Model
  readonly bucket: FakeS3
  readonly now: number
}

/** Every byte below a recorded offset is in the store (I11). */
export function assertKept(state: LedgerState, { model, bucket, now }: Kept): void {
  for (const row of state.resumables) {
    if (!isKept(row, now) || row.received_bytes === 0) continue
    const upload = model.uploads.get(row.version)
    if (upload === undefined || isUnsafe(upload, model.damagedKeys)) continue
    const stored = storedBytes(state, row, bucket)
    demand(
      stored !== undefined && stored.equals(upload.recorded),
      'I11',
      `of ${upload.recorded.length} bytes of ${row.version} the store has ${stored?.length}`,
    )
  }
}

/** The object, if it has been made already, else the pieces. */
function storedBytes(state: LedgerState, row: ResumableRow, bucket: FakeS3): Buffer | undefined {
  const whole = bucket.objects.get(row.object_key)
  if (whole !== undefined) return whole.content
  const { uploadId = '' } = JSON.parse(row.store_state) as { readonly uploadId?: string }
  const parts = bucket.uploads.get(uploadId)?.parts
  const contents: Buffer[] = []
  for (const { first_byte: firstByte, object_key: key } of piecesOf(state, row)) {
    const number = firstByte / row.part_size + 1
    const content = key === null ? parts?.get(number) : bucket.objects.get(key)?.content
    if (content === undefined) return undefined
    contents.push(content)
  }
  return Buffer.concat(contents)
}
