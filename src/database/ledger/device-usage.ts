import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { FileChange } from '../../core/files/file-change.ts'
import { countedBytes, type File } from '../../core/files/file.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { Slot } from '../statement.ts'
import type { Tables } from '../schema.ts'
import { bigint, type LedgerTx, run } from './ledger-sql.ts'

/** What changes add to what the files of a device count. */
export interface DeviceChange {
  readonly deviceId: string
  readonly bytes: number
  readonly files: number
}

type Owned = Pick<File, 'deviceId' | 'size' | 'metadataBytes'>

/** By device. */
export function deviceChanges(
  changes: readonly Pick<FileChange, 'file' | 'old'>[],
): readonly DeviceChange[] {
  const sums = new Map<string, DeviceChange>()
  const add = (file: Owned | undefined, sign: 1 | -1): void => {
    const deviceId = file?.deviceId ?? null
    if (file === undefined || deviceId === null) return
    const { bytes = 0, files = 0 } = sums.get(deviceId) ?? {}
    sums.set(deviceId, {
      deviceId,
      bytes: bytes + sign * countedBytes(file),
      files: files + sign,
    })
  }
  for (const { file, old } of changes) {
    add(old, -1)
    add(file, 1)
  }
  return [...sums.values()]
}

/** Counts the changes in `device_usage`, under the user's lock (I16). */
export async function countDevices(
  tx: Pick<LedgerTx, 'compile' | 'execute'>,
  userId: UserId,
  changes: readonly DeviceChange[],
): Promise<void> {
  for (const change of changes) {
    const { bytes, files } = change
    if (bytes === 0 && files === 0) continue
    // Of a device without a row, nothing can be subtracted.
    await run(tx, bytes >= 0 && files >= 0 ? addUsage : changeUsage, { ...change, userId })
    if (files < 0) await run(tx, forgetUnused, { ...change, userId })
  }
}

/** Adds what the rows count, which are files, or become them. `from`: a table and a condition. */
export async function countFilesOfDevices(
  db: Kysely<Tables>,
  from: RawBuilder<unknown>,
  metadataBytes: RawBuilder<number> = sql<number>`metadata_bytes`,
): Promise<void> {
  await sql`
    INSERT INTO device_usage (user_id, device_id, used_bytes, file_count)
    SELECT user_id, device_id, SUM(size + ${metadataBytes}), COUNT(*)
    FROM ${from} AND device_id IS NOT NULL GROUP BY user_id, device_id
    ${ADD_USAGE}
  `.execute(db)
}

type Values = DeviceChange & { readonly userId: UserId }

function addUsage(slot: Slot<Values>) {
  return sql`
    INSERT INTO device_usage (user_id, device_id, used_bytes, file_count)
    VALUES (${slot('userId')}, ${slot('deviceId')}, ${slot('bytes')}, ${slot('files')})
    ${ADD_USAGE}
  `
}

export const ADD_USAGE = sql`
  ON CONFLICT (user_id, device_id) DO UPDATE
  SET used_bytes = device_usage.used_bytes + excluded.used_bytes,
      file_count = device_usage.file_count + excluded.file_count
`

function changeUsage(slot: Slot<Values>) {
  return sql`
    UPDATE device_usage
    SET used_bytes = used_bytes + ${bigint(slot('bytes'))}, file_count = file_count + ${bigint(slot('files'))}
    WHERE user_id = ${slot('userId')} AND device_id = ${slot('deviceId')}
  `
}

function forgetUnused(slot: Slot<Values>) {
  return sql`
    DELETE FROM device_usage
    WHERE user_id = ${slot('userId')} AND device_id = ${slot('deviceId')} AND file_count = 0
  `
}
