import type { Selectable } from 'kysely'
import type { FileRow } from '../../../../src/database/schema.ts'
import type { FakeS3 } from '../../../support/faults/fake-s3.ts'
import { reservedBytes } from './device-accounts.ts'
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
    assertEqual('used', quota.used_bytes, sum(files.map(countedOf)))
    assertEqual('file count', quota.file_count, files.length)
    assertEqual('reserved', quota.reserved_bytes, reservedBytes(state, quota.user_id))
    const garbage = state.garbage.filter((row) => row.user_id === quota.user_id)
    const ended = state.uploads.filter((row) => row.user_id === quota.user_id)
    const counted = [
      ...garbage.map((row) => Number(row.bytes)),
      ...ended.map((row) => row.garbage_bytes),
    ]
    assertEqual('garbage', quota.garbage_bytes, sum(counted))
    const past = state.history.filter((row) => row.user_id === quota.user_id)
    assertEqual('history', quota.history_bytes, sum(past.map((row) => row.size + 4096)))
    assertEqual('past versions', quota.history_count, past.length)
  }
  assertOnePlace(state)
  assertDevices(state, model)
}

/** What the files of each device count, and whose the contents are, past ones too (I16). */
function assertDevices({ files, history, deviceUsage }: LedgerState, model: Model): void {
  for (const { version, device_id: found } of [...files, ...history]) {
    const expected = model.deviceOf.get(version)
    demand(found === (expected ?? null), 'I16', `${version} is of ${found}, not of ${expected}`)
  }
  const owned = files.filter((row) => row.device_id !== null)
  const expected = [...Map.groupBy(owned, (row) => `${row.user_id}/${row.device_id}`)]
    .map(([device, rows]) => `${device} ${sum(rows.map(countedOf))} ${rows.length}`)
    .sort()
  const found = deviceUsage
    .map((row) => `${row.user_id}/${row.device_id} ${row.used_bytes} ${row.file_count}`)
    .sort()
  demand(found.join() === expected.join(), 'I16', `counted ${found.join()}, not ${expected.join()}`)
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
  const { device_id: deviceId, is_kept: isKept } = row
  return { version, size, sha256, deviceId, updatedAt, expiresAt, isKept: isKept === 1, metadata }
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
