import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ABSENT, hasCode } from '../system-error.ts'
import { formatTimestamp } from '../timestamp.ts'
import { type Manifest, parseManifest } from './manifest.ts'

/** The parts of a folder of backups. */
export function partsOf(directory: string) {
  return {
    /** Marks the folder as one of backups. Whoever changes the folder holds a lock on it. */
    lock: join(directory, 'backup.lock'),
    /** Shared by all copies, and laid out as the object store. */
    objects: join(directory, 'objects'),
    /** A folder for each complete copy. */
    copies: join(directory, 'copies'),
    /** Exists while a run is in progress, or after one that was interrupted; the next run deletes it. */
    unfinished: join(directory, 'unfinished'),
    /** The copy that is being made. */
    newCopy: join(directory, 'unfinished', 'copy'),
    /** A copy that is being removed. */
    oldCopy: join(directory, 'unfinished', 'removed'),
  }
}

export const DATABASE_NAME = 'database.sqlite'
export const MANIFEST_NAME = 'manifest.json'

/** A complete copy: a rename has made it visible as a whole. */
export interface BackupCopy {
  /** The time of its database, such as `20261130T091500.123Z`: ISO 8601 without what file systems refuse. */
  readonly time: string
  readonly folder: string
}

/** Newest first. Resolves to none if there is no such folder. */
export async function listCopies(directory: string): Promise<readonly BackupCopy[]> {
  const { copies } = partsOf(directory)
  const times = (await namesIn(copies)).filter((name) => COPY_TIME.test(name))
  return times
    .sort()
    .toReversed()
    .map((time) => ({ time, folder: join(copies, time) }))
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (hasCode(error, ABSENT)) return []
    throw error
  }
}

const COPY_TIME = /^\d{8}T\d{6}\.\d{3}Z$/

/** The name of a copy whose database is of this time, in milliseconds since 1970. */
export function copyTimeOf(ms: number): string {
  return new Date(ms).toISOString().replaceAll(/[-:]/g, '')
}

/** Milliseconds since 1970. */
export function timeOfCopy({ time }: Pick<BackupCopy, 'time'>): number {
  return Date.parse(time.replace(/(..)(..)T(..)(..)/, '-$1-$2T$3:$4:'))
}

/** Resolves to `undefined` if it is damaged or missing. */
export async function readManifest({ folder }: BackupCopy): Promise<Manifest | undefined> {
  try {
    return parseManifest(await readFile(join(folder, MANIFEST_NAME), 'utf8'))
  } catch (error) {
    if (hasCode(error, ABSENT)) return undefined
    throw error
  }
}

/** What operators see of the newest complete copy. */
export interface LastBackup {
  /** The time of its database: milliseconds since 1970, as `completedAt`. */
  readonly at: number
  readonly completedAt: number
  readonly files: number
  /** Of its files and past versions. */
  readonly bytes: number
  /** How many objects it lacks. */
  readonly findings: number
}

/** Resolves to `undefined` if no copy is complete. Skips copies whose manifest is damaged. */
export async function findLastBackup(directory: string): Promise<LastBackup | undefined> {
  for (const copy of await listCopies(directory)) {
    const manifest = await readManifest(copy).catch(() => undefined)
    if (manifest === undefined) continue
    const { completed_at, files, bytes, findings } = manifest
    return { at: timeOfCopy(copy), completedAt: Date.parse(completed_at), files, bytes, findings }
  }
  return undefined
}

/** What the admin API says of the newest complete copy. */
export function lastBackupJson(last: LastBackup | undefined) {
  if (last === undefined) return null
  const { at, completedAt, files, bytes } = last
  return { at: formatTimestamp(at), completed_at: formatTimestamp(completedAt), files, bytes }
}
