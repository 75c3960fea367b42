import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { type Caller, callerOf } from '../../../src/core/users/caller.ts'
import { type AppError, isAppError } from '../../../src/core/errors.ts'
import {
  type FileName,
  parseFileName,
  parseFileNamePrefix,
} from '../../../src/core/files/file-name.ts'
import type { File } from '../../../src/core/files/file.ts'
import type { ListedFiles } from '../../../src/core/files/listing.ts'
import type {
  BeginUpload,
  CommittedUpload,
  CommitUpload,
  ExtendUpload,
} from '../../../src/core/uploads/upload-ledger.ts'
import type { DeleteFile, ListFiles, UpdateFile } from '../../../src/core/files/file-ledger.ts'
import type { ListHistory, RestoreVersion } from '../../../src/core/history/history-ledger.ts'
import type { PastVersion } from '../../../src/core/history/past-version.ts'
import type { Ledger } from '../../../src/database/ledger.ts'
import type { LedgerOptions } from '../../../src/database/operations/session.ts'
import type { Usage } from '../../../src/core/users/account-ledger.ts'
import { objectKey, createVersion, type Version } from '../../../src/core/objects/object-key.ts'
import { parseUserId, type UserId } from '../../../src/core/users/user-id.ts'
import type { UserStores } from '../../../src/database/users/user-store.ts'
import { readUsage } from '../../support/read-usage.ts'

/** What every user of a harness's ledgers has without a grant. */
export const BASE_CAPACITY = 100

/** An adapter under test, on an empty database. */
export interface LedgerHarness {
  readonly ledger: Ledger
  /** A second one on connections of its own, as another instance has it. */
  readonly other: Ledger
  /** Both on the same connections, with these options besides the others. */
  with(options: Partial<LedgerOptions>): Pick<LedgerHarness, 'ledger' | 'other'>
  readonly users: UserStores
  /** The database's clock, which stands still. */
  now(): number
  /** Moves that clock on by `ms`. */
  advance(ms: number): Promise<void>
  /** What the rows add up to, counted afresh. */
  audit(userId: UserId): Promise<Audit>
  /** What each device of the user uses: as it is recorded, and what its files add up to. In the order of their ids. */
  devices(userId: UserId): Promise<Record<'recorded' | 'counted', readonly DeviceFigures[]>>
  /** The share of a device that exists. */
  setShare(userId: UserId, deviceId: string, share: string): Promise<void>
  /** Uploads of the user that are pending and whose lease runs. */
  runningUploads(userId: UserId): Promise<number>
  /** Bytes of the user's garbage: as they are recorded, and what the rows add up to. */
  garbageBytes(userId: UserId): Promise<{ readonly recorded: number; readonly counted: number }>
  /** Of the user's past versions: as they are recorded, and what the rows add up to. */
  history(userId: UserId): Promise<PastFigures>
  /** Keys that files of the user refer to, and those in `garbage`, with their times. */
  keys(userId: UserId): Promise<Keys>
  /** The versions of the user's uploads in the journal, in their order. */
  journal(userId: UserId): Promise<readonly Version[]>
  /** The number of rows in `changes` of the user. */
  changeRows(userId: UserId): Promise<number>
  /** Counts the user's changes as so many, as if the rows of the others had existed. */
  countChanges(userId: UserId, count: number): Promise<void>
  /** As if an earlier version had created the user. */
  forgetState(userId: UserId): Promise<void>
  /** Counts so many bytes in the user's history, whatever its rows hold. */
  driftHistory(userId: UserId, bytes: number): Promise<void>
  /** Adds so many empty past versions, at most 99,999, as if a narrow credential had just ended the user's files. */
  addProtected(userId: UserId, count: number): Promise<void>
  /** Adds files of one byte, each a millisecond older than the next, as if they had been uploaded. */
  addFiles(userId: UserId, files: AddedFiles): Promise<void>
  /** Keeps all files with the prefix, at the times of their last change. */
  keepFiles(userId: UserId, prefix: string): Promise<void>
  /** Has all files with the prefix expired. */
  expireFiles(userId: UserId, prefix: string): Promise<void>
  close(): Promise<void>
}

/** The options are those besides what all harnesses have. */
export type OpenHarness = (options?: Partial<LedgerOptions>) => Promise<LedgerHarness>

export interface AddedFiles {
  /** Of their names, which end in five digits from 00001. */
  readonly prefix: string
  readonly count: number
  /** The time before the first one. */
  readonly since: number
}

export interface Audit {
  readonly used: number
  readonly reserved: number
  readonly fileCount: number
}

export interface DeviceFigures {
  readonly deviceId: string
  readonly used: number
  readonly files: number
}

export interface PastFigures {
  readonly bytes: number
  readonly versions: number
  readonly excess: number
  readonly countedBytes: number
  readonly countedVersions: number
  readonly protectedBytes: number
  readonly countedProtected: number
}

export interface Keys {
  readonly referenced: readonly string[]
  readonly garbage: readonly { readonly key: string; readonly notBefore: number }[]
}

/** What a test says of a change; the rest stays as it is. */
export interface Change extends Partial<Omit<UpdateFile, 'newName'>> {
  readonly newName?: string
}

export interface Listing extends Partial<Omit<ListFiles, 'prefix'>> {
  readonly prefix?: string
}

export interface Past extends Partial<Omit<ListHistory, 'name' | 'prefix'>> {
  readonly name?: string
  readonly prefix?: string
}

export interface Restore extends Partial<Omit<RestoreVersion, 'name'>> {
  readonly name?: string
}

/** A user and their uploads, in the fewest words. */
export interface Account extends Caller {
  begin(name: string, bytes: number, options?: Partial<BeginUpload>): Promise<Version>
  commit(version: Version, size: number, options?: Partial<CommitUpload>): Promise<CommittedUpload>
  /** `begin` and `commit`. */
  put(name: string, size: number, options?: Partial<CommitUpload>): Promise<CommittedUpload>
  extend(version: Version, bytes: number, options?: Partial<ExtendUpload>): Promise<void>
  abort(version: Version): ReturnType<Ledger['abort']>
  remove(name: string, options?: Partial<DeleteFile>): Promise<Version>
  change(name: string, change: Change): Promise<File>
  /** All files in the order of their names, unless `listing` says another. */
  list(listing?: Listing): Promise<readonly File[]>
  page(listing?: Listing): Promise<ListedFiles>
  size(name: string): Promise<number | undefined>
  usage(): Promise<Usage | undefined>
  /** Newest end first, at most 1,000. */
  past(page?: Past): Promise<readonly PastVersion[]>
  restore(version: Version, options?: Restore): Promise<CommittedUpload>
  grant(reference: string, bytes: number): Promise<void>
  /** The same user through another ledger. */
  through(ledger: Ledger): Account
}

export const LONG_MS = 3_600_000

export async function openAccount({
  ledger,
  users,
}: Pick<LedgerHarness, 'ledger' | 'users'>): Promise<Account> {
  const userId = parseUserId(randomUUID())
  const { user } = await users.createUser(userId)
  return accountOf({ ledger, users, ...callerOf(user) })
}

export function accountOf(parts: {
  readonly ledger: Ledger
  readonly users: UserStores
  readonly userId: UserId
  readonly userCreatedAt: number
}): Account {
  const { ledger, users, userId, userCreatedAt } = parts
  const caller = { userId, userCreatedAt }
  const account: Account = {
    ...caller,
    begin: async (name, bytes, options = {}) => {
      const upload = { ...uploadOf(userId, name), bytes }
      await ledger.begin({ ...caller, ...upload, ...options })
      return options.version ?? upload.version
    },
    commit: (version, size, options = {}) =>
      ledger.commit({
        ...caller,
        version,
        size,
        sha256: digestOf(size),
        crc32: size,
        visibility: undefined,
        ...options,
      }),
    put: async (name, size, options = {}) =>
      account.commit(await account.begin(name, size), size, options),
    extend: (version, bytes, options = {}) =>
      ledger.extend({ ...caller, version, bytes, ...options }),
    abort: (version) => ledger.abort({ userId, version }),
    remove: (name, options = {}) =>
      ledger.deleteFile({
        ...caller,
        name: parseFileName(name),
        ...options,
      }),
    change: (name, { newName, ...change }) =>
      ledger.updateFile({
        ...caller,
        name: parseFileName(name),
        newName: newName === undefined ? undefined : parseFileName(newName),
        visibility: undefined,
        overwrite: false,
        ...change,
      }),
    list: async (listing) => (await account.page(listing)).files,
    page: ({ prefix = '', ...listing } = {}) =>
      ledger.listFiles({
        userId,
        audience: 'owner',
        order: 'name',
        after: undefined,
        limit: 1000,
        maxScanned: 2000,
        ...listing,
        prefix: parseFileNamePrefix(prefix),
      }),
    size: async (name) =>
      (await ledger.findFile({ userId, name: parseFileName(name), audience: 'owner' }))?.size,
    usage: () => readUsage(ledger, userId),
    past: async ({ name, prefix = '', ...page } = {}) => {
      const { versions } = await ledger.listHistory({
        ...caller,
        after: undefined,
        limit: 1000,
        maxScanned: 2000,
        ...page,
        name: name === undefined ? undefined : parseFileName(name),
        prefix: parseFileNamePrefix(prefix),
      })
      return versions
    },
    restore: (version, { name, ...options } = {}) =>
      ledger.restoreVersion({
        ...caller,
        version,
        overwrite: false,
        ...options,
        name: name === undefined ? undefined : parseFileName(name),
      }),
    grant: async (reference, bytes) => {
      await users.putGrant({ ...grantOf(userId, reference), bytes })
    },
    through: (ledger) => accountOf({ ledger, users, ...caller }),
  }
  return account
}

export function grantOf(userId: UserId, reference: string): Parameters<UserStores['putGrant']>[0] {
  return {
    userId,
    source: 'promotion',
    reference,
    bytes: 1,
    model: undefined,
    startsAt: undefined,
    endsAt: undefined,
  }
}

function uploadOf(
  userId: UserId,
  name: string,
): Pick<BeginUpload, 'userId' | 'version' | 'objectKey'> & { readonly name: FileName } {
  const version = createVersion()
  return { userId, name: parseFileName(name), version, objectKey: objectKey(userId, version) }
}

export function digestOf(size: number): string {
  return size.toString(16).padStart(64, '0')
}

/**
 * `ok`, or the code of the `AppError` that an operation rejected with; any other error is thrown
 * on.
 */
export async function outcomeOf(operation: Promise<unknown>): Promise<string> {
  try {
    await operation
    return 'ok'
  } catch (error) {
    if (isAppError(error)) return error.code
    throw error
  }
}

/**
 * Starts two operations of which either may win, in four rounds `one` first and in four `another`, so that callers who
 * take instances by `round % 2` or `% 4` meet every combination. The later one starts in the same turn of the event
 * loop, or up to `MOST_HEAD_START_MS` after the first, so that each order comes about whichever of them takes longer.
 */
export async function race<A, B>(
  round: number,
  { one, another }: { readonly one: () => Promise<A>; readonly another: () => Promise<B> },
): Promise<[A, B]> {
  const headStartMs = round % (MOST_HEAD_START_MS + 1)
  const later = async <T>(start: () => Promise<T>): Promise<T> => {
    // A timer of none takes a millisecond.
    if (headStartMs > 0) await setTimeout(headStartMs)
    return await start()
  }
  if (round % 8 < 4) return await Promise.all([one(), later(another)])
  const first = another()
  return await Promise.all([later(one), first])
}

const MOST_HEAD_START_MS = 6

export async function refusalOf(operation: Promise<unknown>): Promise<AppError> {
  try {
    await operation
  } catch (error) {
    if (isAppError(error)) return error
    throw error
  }
  throw new Error('It was not refused.')
}

export function count(outcomes: readonly string[], outcome: string): number {
  return outcomes.filter((each) => each === outcome).length
}
