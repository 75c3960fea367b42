import type { FileName } from '../../../../src/core/files/file-name.ts'
import type { CapacityState } from '../../../../src/core/quota/capacity.ts'
import type { UserId } from '../../../../src/core/users/user-id.ts'
import type { User } from '../../../../src/core/users/user-store.ts'
import type { Version } from '../../../../src/core/objects/object-key.ts'
import type { ChangeRow } from '../../../../src/database/schema.ts'
import type { LedgerState } from './ledger-state.ts'
import type { ModelUpload } from './model-upload.ts'
import { FREE_METADATA_BYTES } from '../plan/parameters.ts'
import type { DeviceAction } from '../plan/plan.ts'
import { demand } from './violation.ts'

/** A file as it should be. */
export interface ModelFile {
  readonly version: Version
  readonly size: number
  readonly sha256: string
  readonly deviceId: string | null
  readonly updatedAt: number
  /** By the database's clock. */
  readonly expiresAt: number
  readonly isKept: boolean
  /** JSON; `null` if there are none. */
  readonly metadata: string | null
}

/** A device that adds to the capacity, and has a share of it. */
export type ModelDevice = Pick<DeviceAction, 'bytes' | 'share'>

/** A change as it should be recorded. */
export type ModelChange = Omit<ChangeRow, 'user_id'>

/** A user as they should be, at one moment. */
export interface ModelUser {
  /** Which of the users who have had the id one after the other; 0 for none. */
  readonly createdAt: number
  readonly status: 'active' | 'suspended' | 'deleted'
  /** Also those that have expired and still count. */
  readonly files: ReadonlyMap<FileName, ModelFile>
  /** Bytes without grants, and of grants in force. */
  readonly base: number
  readonly granted: number
  /** Those that have not been removed. */
  readonly devices: ReadonlyMap<string, ModelDevice>
  /** All that the feed has told, also what may be forgotten by now. */
  readonly changes: readonly ModelChange[]
  /** The date of the last commit, as the database has it: also one that has changed nothing may have one. */
  readonly newestAt: number
  /** As last recorded. */
  readonly capacityState: CapacityState
}

const NEW_USER: ModelUser = {
  createdAt: 0,
  status: 'active',
  files: new Map(),
  base: 0,
  granted: 0,
  devices: new Map(),
  changes: [],
  newestAt: 0,
  capacityState: 'normal',
}

/**
 * What the ledger should say after the calls that had their effect; each user's past is kept for reads that began in
 * it.
 */
export class Model {
  /** All resumable uploads that were ever created, in that order. */
  readonly uploads = new Map<Version, ModelUpload>()
  /** The device whose client has sent each content. */
  readonly deviceOf = new Map<Version, string | undefined>()
  /** When files expire by the timeline, which no jump of a clock moves; those that do not are missing. */
  readonly dueAt = new Map<Version, number>()
  /** When past versions ended, and when garbage is due, by the timeline. */
  readonly endedAt = new Map<Version, number>()
  readonly garbageDueAt = new Map<string, number>()
  /** The latest time by which changes could be forgotten. */
  latestSafeNow = 0
  /** When a safe time was last stored, by the timeline. */
  clockStoredAt = 0
  /** Those whose client was told where they are. */
  readonly knownUploads: ModelUpload[] = []
  /** Keys under which the store has kept less than it confirmed. */
  readonly damagedKeys = new Set<string>()
  readonly #baseCapacity: number
  readonly #users = new Map<UserId, { readonly since: number; user: ModelUser }[]>()
  #moment = 0

  constructor(baseCapacity: number) {
    this.#baseCapacity = baseCapacity
  }

  userIds(): readonly UserId[] {
    return [...this.#users.keys()]
  }

  user(userId: UserId): ModelUser {
    return this.#users.get(userId)?.at(-1)?.user ?? { ...NEW_USER, status: 'deleted' }
  }

  /** A moment to which `since` can go back. */
  now(): number {
    return this.#moment
  }

  /** What the user was at that moment and has been since then. */
  since(userId: UserId, moment: number): readonly ModelUser[] {
    const states = this.#users.get(userId) ?? []
    const first = states.findLastIndex((state) => state.since <= moment)
    return states.slice(Math.max(0, first)).map((state) => state.user)
  }

  create({ userId, createdAt }: Pick<User, 'userId' | 'createdAt'>): void {
    const base = this.#baseCapacity
    // As recorded without an event: without a capacity, an account is full from its beginning.
    const state = base === 0 ? 'critical' : 'normal'
    this.#change(userId, { ...NEW_USER, createdAt, base, capacityState: state })
  }

  setStatus(userId: UserId, status: ModelUser['status']): void {
    this.#change(userId, { ...this.user(userId), status })
  }

  setGranted(userId: UserId, granted: number): void {
    this.#change(userId, { ...this.user(userId), granted })
  }

  setDevice(userId: UserId, deviceId: string, device: ModelDevice | undefined): void {
    const user = this.user(userId)
    const devices = new Map(user.devices)
    if (device === undefined) devices.delete(deviceId)
    else devices.set(deviceId, device)
    this.#change(userId, { ...user, devices })
  }

  put(userId: UserId, { name, file }: { name: FileName; file: ModelFile }): void {
    const user = this.user(userId)
    this.#change(userId, { ...user, files: new Map([...user.files, [name, file]]) })
  }

  remove(userId: UserId, name: FileName): void {
    const user = this.user(userId)
    const files = new Map(user.files)
    files.delete(name)
    this.#change(userId, { ...user, files })
  }

  /** Dates never go back (I18). */
  noteDates(quotas: LedgerState['quotas']): void {
    for (const { user_id: userId, newest_at: newestAt } of quotas) {
      const user = this.user(userId)
      const isKept = newestAt >= user.newestAt
      demand(isKept, 'I18', `${userId} has ${newestAt} as its newest date, after ${user.newestAt}`)
      const state = this.#users.get(userId)?.at(-1)
      if (state !== undefined) state.user = { ...user, newestAt }
    }
  }

  setFeed(userId: UserId, feed: Pick<ModelUser, 'changes' | 'capacityState'>): void {
    this.#change(userId, { ...this.user(userId), ...feed })
  }

  /** Nobody sees what the user is in between. */
  atOnce(userId: UserId, change: () => void): void {
    const before = this.#users.get(userId)?.length ?? 0
    change()
    const states = this.#users.get(userId) ?? []
    states.splice(before, states.length - before - 1)
  }

  /** What the user would be. */
  trying(userId: UserId, change: () => void): ModelUser {
    const before = this.#users.get(userId)?.length ?? 0
    change()
    const user = this.user(userId)
    this.#users.get(userId)?.splice(before)
    return user
  }

  #change(userId: UserId, user: ModelUser): void {
    this.#moment += 1
    const states = this.#users.get(userId) ?? []
    states.push({ since: this.#moment, user })
    this.#users.set(userId, states)
  }
}

/** The date of the user's next commit: later than that of any before, and not before the clock's time. */
export function nextDate({ changes, files, newestAt }: ModelUser, clock: () => number): number {
  const dates = [...files.values()].map(({ updatedAt }) => updatedAt)
  // The database counts whole milliseconds.
  return Math.max(Math.trunc(clock()), 1 + Math.max(newestAt, changes.at(-1)?.at ?? 0, ...dates))
}

export function isOver({ expiresAt }: ModelFile, now: number): boolean {
  return expiresAt <= now
}

/** The file of that name, unless it has expired. */
export function currentFile(
  { files }: ModelUser,
  { name, now }: { readonly name: FileName; readonly now: number },
): ModelFile | undefined {
  const file = files.get(name)
  return file === undefined || isOver(file, now) ? undefined : file
}

export function usedBytes({ files }: ModelUser): number {
  return [...files.values()].reduce((sum, file) => sum + countedOf(file), 0)
}

/** What a file counts: its size, and what its metadata exceed those that are free by. */
export function countedOf({ size, metadata }: Pick<ModelFile, 'size' | 'metadata'>): number {
  return size + Math.max(0, Buffer.byteLength(metadata ?? '') - FREE_METADATA_BYTES)
}

/** By how much the user's files would count more with a file of so many bytes; negative for less. */
export function growthOf(
  { files }: ModelUser,
  { name, bytes }: { readonly name: FileName; readonly bytes: number },
): number {
  const replaced = files.get(name)
  return bytes - (replaced ? countedOf(replaced) : 0)
}

export function capacityOf({ base, granted, devices }: ModelUser): number {
  return [...devices.values()].reduce((sum, { bytes }) => sum + bytes, base + granted)
}
