import type { Selectable } from 'kysely'
import type { FileRow } from '../../../../src/database/schema.ts'
import type { FakeS3 } from '../../../support/faults/fake-s3.ts'
import type { LedgerState } from './ledger-state.ts'
import { countedOf, type Model, type ModelFile } from './model.ts'
import { digest } from '../plan/operation.ts'
import { demand } from './violation.ts'

/** The files are those of the model, and the figures are what the rows add up to (I1, I2, I4). */
export function assertLedger(state: LedgerState, model: Model): void {
  const found = state.files.map((row) => line(`${row.user_id}/${row.name}`, asFile(row))).sort()
  const expected = model
    .userIds()
    .flatMap((userId) =>
      [...model.user(userId).files].map(([name, file]) => line(`${userId}/${name}`, file)),
    )
    .sort()
  demand(
    found.join('\n') === expected.join('\n'),
    'I1',
    `files are\n${found.join('\n')}\nbut should be\n${expected.join('\n')}`,
  )
  for (const quota of state.quotas) {
    const files = state.files.filter((row) => row.user_id === quota.user_id)
    const pending = state.uploads.filter(
      (row) => row.user_id === quota.user_id && row.state === 'pending',
    )
    assertEqual('used', quota.used_bytes, sum(files.map(countedOf)))
    assertEqual('file count', quota.file_count, files.length)
    assertEqual('reserved', quota.reserved_bytes, sum(pending.map((row) => row.reserved_bytes)))
    const garbage = state.garbage.filter((row) => row.user_id === quota.user_id)
    const ended = state.uploads.filter((row) => row.user_id === quota.user_id)
    const counted = [
      ...garbage.map((row) => Number(row.bytes)),
      ...ended.map((row) => Number(row.garbage_bytes)),
    ]
    assertEqual('garbage', quota.garbage_bytes, sum(counted))
    const past = state.history.filter((row) => row.user_id === quota.user_id)
    assertEqual('history', quota.history_bytes, sum(past.map((row) => row.size + 4096)))
    assertEqual('past versions', quota.history_count, past.length)
  }
  assertOnePlace(state)
}

/** No object is of two of a file, a past version and garbage (I15). */
function assertOnePlace({ files, history, garbage }: LedgerState): void {
  const keys = [...files, ...history, ...garbage].map((row) => row.object_key)
  const twice = keys.filter((key, index) => keys.indexOf(key) !== index)
  demand(twice.length === 0, 'I15', `in two places: ${twice.join()}`)
}

/** The object of each file and past version is there, with its very bytes (I3). */
export function assertObjects(
  files: readonly Pick<FileRow, 'object_key' | 'size' | 'sha256'>[],
  bucket: FakeS3,
): void {
  for (const { object_key: key, size, sha256 } of files) {
    const content = bucket.objects.get(key)?.content
    demand(content !== undefined, 'I3', `no object ${key}`)
    demand(content.length === size, 'I3', `${key} has ${content.length} of ${size} bytes`)
    demand(digest(content) === sha256, 'I3', `${key} has other bytes`)
  }
}

function asFile(row: Selectable<FileRow>): ModelFile {
  const { version, size, sha256, updated_at: updatedAt, expires_at: expiresAt, metadata } = row
  return { version, size, sha256, updatedAt, expiresAt, isKept: row.is_kept === 1, metadata }
}

function line(name: string, file: ModelFile): string {
  const { version, size, sha256, updatedAt, expiresAt, isKept, metadata } = file
  return `${name} ${version} ${size} ${sha256} ${updatedAt} ${expiresAt} ${isKept} ${metadata}`
}

function assertEqual(figure: string, found: number, expected: number): void {
  demand(found === expected, 'I4', `${figure} is ${found}, but the rows make ${expected}`)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
