import { resolve } from 'node:path'
import { parseKeptCopies } from '../core/backup/kept-copies.ts'
import { misplacementOf } from '../core/backup/placement.ts'
import { parseDuration } from '../core/duration.ts'
import type { Reader } from './reader.ts'

export interface BackupsConfig {
  /** `undefined`: the service makes none by itself. */
  readonly directory: string | undefined
  readonly everyMs: number
  /** How many complete copies stay. */
  readonly keep: number
}

interface BackedUp {
  readonly dataDir: string
  /** The embedded database; `undefined` for PostgreSQL. */
  readonly databaseFile: string | undefined
  /** The folder of the objects; `undefined` for S3. */
  readonly objects: string | undefined
}

export function readBackups({ shown, faults }: Reader, backedUp: BackedUp): BackupsConfig {
  const directory = shown('BACKUP_DIR', '', parseBackupDir)
  const fault = directory === undefined ? undefined : faultOf(directory, backedUp)
  if (fault !== undefined) faults.push(`BACKUP_DIR: ${fault}`)
  return {
    directory,
    everyMs: shown('BACKUP_EVERY', '24h', parseBackupEvery),
    keep: shown('BACKUP_KEEP', '7', parseKeptCopies),
  }
}

/** A URL would be taken for a folder below the current one. */
function parseBackupDir(text: string): string | undefined {
  if (/^[a-z\d+.-]+:\/\//i.test(text)) throw new Error('must be a folder')
  return text === '' ? undefined : resolve(text)
}

function faultOf(
  directory: string,
  { dataDir, databaseFile, objects }: BackedUp,
): string | undefined {
  if (databaseFile === undefined)
    return 'needs the embedded database; back up PostgreSQL with pg_dump'
  if (objects === undefined) {
    return 'needs local files; copy a bucket with mc mirror or rclone, after the database'
  }
  const misplaced = misplacementOf(directory, { dataDir, database: databaseFile, objects })
  return misplaced && MISPLACED[misplaced]
}

const MISPLACED = {
  among_objects: 'must not lie in the folder of the objects',
  around_data: 'must not contain the database and the objects',
} as const

function parseBackupEvery(text: string): number {
  const ms = parseDuration(text)
  if (ms >= parseDuration('1min') && ms <= parseDuration('366d')) return ms
  throw new Error('must be a duration from 1min to 366d, such as 6h or 24h')
}
