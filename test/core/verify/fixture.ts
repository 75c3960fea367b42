import { authorized, callerNamed } from '../../support/caller.ts'
import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { openService } from '../../../src/compose/compose.ts'
import { readConfig } from '../../../src/config/config.ts'
import type { SentDescription } from '../../../src/core/files/file.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import type { Ledger } from '../../../src/database/ledger.ts'
import { objectKey, type ObjectKey, createVersion } from '../../../src/core/objects/object-key.ts'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import type { History } from '../../../src/core/history/history.ts'
import { type UserId, parseUserId } from '../../../src/core/users/user-id.ts'
import type { UserStores } from '../../../src/database/users/user-store.ts'
import type { Database } from '../../../src/database/database.ts'
import { contentOf, incomingFile } from '../../support/http/incoming-file.ts'
import { never } from '../../support/objects.ts'
import { type UserUploads, uploadsOf } from '../../support/service/resumables.ts'

/** The adapters that a suite on `verify` runs on. */
export interface VerifyAdapters {
  readonly database: Database
  readonly objects: ObjectStore
  close(): Promise<void>
}

export type OpenVerifyAdapters = () => Promise<VerifyAdapters>

export const ALICE = parseUserId('alice')
export const BOB = parseUserId('bob')

export interface SentContent extends SentDescription {
  readonly content: string
  readonly deviceId?: string
}

/** A repository as users work on it, and what a test needs to damage it. Garbage has no grace period. */
export interface VerifyBed extends VerifyAdapters {
  readonly ledger: Ledger
  readonly users: UserStores
  upload(userId: UserId, name: string, sent: string | SentContent): Promise<ObjectKey>
  /** The resumable uploads of a user. */
  uploadsOf(userId: UserId): Promise<UserUploads>
  remove(userId: UserId, name: string): Promise<void>
  /** Replaces what has the new name. */
  rename(userId: UserId, name: string, newName: string): Promise<void>
  /** Puts an object that nobody has asked for. */
  stray(key: ObjectKey, content?: string): Promise<ObjectKey>
  has(key: ObjectKey): Promise<boolean>
  readonly history: History
  /** Drops what the user has replaced and deleted. */
  forgetHistory(userId: UserId): Promise<void>
  sweep(): Promise<void>
  /** Every row and every object: what must not change while nothing is repaired. */
  everything(): Promise<unknown>
}

export async function openBed(
  open: OpenVerifyAdapters,
  settings: Readonly<Record<string, string>> = {},
): Promise<VerifyBed> {
  const adapters = await open()
  const { database, objects } = adapters
  const config = readConfig({
    BASE_CAPACITY: '100000',
    MAX_FILE_SIZE: '10000',
    MIN_FREE_SPACE: '0',
    ...settings,
  })
  const times = { garbageDelayMs: 0, retentionMs: 60_000 }
  const service = await openService(config, { database, objects, ...times })
  const { ledger, userStore: users, repository, history, sweeper } = service
  for (const id of [ALICE, BOB]) await users.createUser(id)
  return {
    ...adapters,
    ledger,
    users,
    history,
    upload: async (userId, name, sent) => {
      const file: SentContent = typeof sent === 'string' ? { content: sent } : sent
      const { content, mediaType, metadata, deviceId } = file
      const caller = authorized({ ...(await callerNamed(users, userId)), deviceId })
      const upload = { subject: caller, name: parseFileName(name), visibility: () => undefined }
      const incoming = incomingFile(content)
      const described = { mediaType, metadata: () => metadata }
      const stored = await repository.upload({
        ...upload,
        ...described,
        incoming,
        signal: never(),
      })
      return stored.file.objectKey
    },
    uploadsOf: (userId) => uploadsOf(service, userId),
    remove: async (userId, name) => {
      const caller = authorized(await callerNamed(users, userId))
      await repository.remove({ subject: caller, name: parseFileName(name) })
    },
    rename: async (userId, name, newName) => {
      const names = { name: parseFileName(name), newName: parseFileName(newName) }
      const caller = authorized(await callerNamed(users, userId))
      await repository.change({ subject: caller, ...names, visibility: undefined, overwrite: true })
    },
    forgetHistory: async (userId) =>
      history.purgeAll({ subject: authorized(await callerNamed(users, userId)), signal: never() }),
    stray: async (key, content = 'stray') => {
      await objects.put({ key, body: contentOf([Buffer.from(content)]), signal: never() })
      return key
    },
    has: async (key) => (await objects.head({ key, signal: never() })) !== undefined,
    sweep: async () => {
      // What became garbage in this millisecond is not yet due.
      await setTimeout(2)
      await sweeper.sweep({ signal: never() })
    },
    everything: async () => ({
      tables: await Promise.all(TABLES.map((table) => rowsOf(database, table))),
      objects: (await Array.fromAsync(objects.list({ prefix: 'users/', signal: never() }))).sort(
        (a, b) => a.key.localeCompare(b.key),
      ),
    }),
  }
}

const TABLES = [
  'history',
  'users',
  'quotas',
  'files',
  'uploads',
  'resumable_uploads',
  'upload_pieces',
  'garbage',
] as const

async function rowsOf(database: Database, table: (typeof TABLES)[number]): Promise<unknown> {
  return (await sql`SELECT * FROM ${sql.table(table)} ORDER BY 1, 2`.execute(database.kysely)).rows
}

/** A key of which no row knows. */
export function strayKey(userId: UserId): ObjectKey {
  return objectKey(userId, createVersion())
}
