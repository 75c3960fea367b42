import type { FileName } from '../../../../src/core/files/file-name.ts'
import { type CapacityState, capacityState } from '../../../../src/core/quota/capacity.ts'
import type { UserId } from '../../../../src/core/users/user-id.ts'
import type { ChangeRow } from '../../../../src/database/schema.ts'
import { EVENT_LIFETIME_MS } from '../plan/parameters.ts'
import type { LedgerState } from './ledger-state.ts'
import {
  capacityOf,
  type Model,
  type ModelChange,
  type ModelFile,
  type ModelUser,
  usedBytes,
} from './model.ts'
import { demand } from './violation.ts'

export interface FileEvent {
  readonly type: Extract<ChangeRow['type'], `file.${string}`>
  readonly name: FileName
  readonly file: ModelFile
  readonly previousName?: FileName
}

interface Recorded {
  readonly userId: UserId
  readonly events: readonly FileEvent[]
  /** Of the commit. */
  readonly at: number
}

/**
 * Adds to the feed what one commit should record that has changed the model: the events of files, and then one of the
 * capacity if its state differs from the one that was recorded last.
 */
export function record(model: Model, { userId, events, at }: Recorded): void {
  const user = model.user(userId)
  const state = stateOf(user)
  const told = [
    ...events.map(ofFile),
    ...(state === user.capacityState ? [] : [ofCapacity(state, user)]),
  ]
  const changes = [...user.changes]
  for (const facts of told) {
    const previous = changes.at(-1)
    const [sequence, before] = [(previous?.sequence ?? 0) + 1, previous?.at ?? 0]
    changes.push({ ...facts, sequence, at, previous_at: before })
  }
  model.setFeed(userId, { changes, capacityState: state })
}

function stateOf(user: ModelUser): CapacityState {
  const { size: fileCount } = user.files
  return capacityState({
    capacity: capacityOf(user),
    used: usedBytes(user),
    reserved: 0,
    fileCount,
  })
}

type Facts = Omit<ModelChange, 'sequence' | 'at' | 'previous_at'>

function ofFile({ type, name, file, previousName }: FileEvent): Facts {
  const { version, size, sha256 } = file
  const told = { type, name, version, size, sha256, visibility: 'private' as const }
  const others = { media_type: null, device_id: file.deviceId, capacity: null, used: null }
  return { ...told, previous_name: previousName ?? null, ...others }
}

function ofCapacity(state: CapacityState, user: ModelUser): Facts {
  return {
    type: `capacity.${state}`,
    name: null,
    version: null,
    size: null,
    sha256: null,
    visibility: null,
    previous_name: null,
    media_type: null,
    device_id: null,
    capacity: capacityOf(user),
    used: usedBytes(user),
  }
}

/** Each feed has the changes of the model, and no other ones (I14). Old ones may be forgotten, and those of a deleted user. */
export function assertFeeds(
  { changes, quotas }: LedgerState,
  { model, now }: { readonly model: Model; readonly now: number },
): void {
  const recorded = Map.groupBy(changes, (row) => row.user_id)
  for (const userId of new Set([...model.userIds(), ...recorded.keys()])) {
    const user = model.user(userId)
    const rows = recorded.get(userId) ?? []
    const isForgettable = (at: number): boolean =>
      user.status === 'deleted' || at < now - EVENT_LIFETIME_MS
    const sequences = new Set(rows.map(({ sequence }) => sequence))
    const expected = user.changes.filter(
      ({ sequence, at }) => sequences.has(sequence) || !isForgettable(at),
    )
    const [found, due] = [rows.map(line), expected.map(line)].map((lines) => lines.join('\n'))
    demand(found === due, 'I14', `the changes of ${userId} are\n${found}\nbut should be\n${due}`)
    const quota = quotas.find((row) => row.user_id === userId)
    if (quota !== undefined) assertEnd(quota, user)
  }
}

function assertEnd(
  quota: LedgerState['quotas'][number],
  { changes, capacityState: state }: ModelUser,
): void {
  const { sequence = 0, at = 0 } = changes.at(-1) ?? {}
  const { user_id: userId, change_count: count, changed_at: changedAt } = quota
  demand(count === sequence, 'I14', `${userId} has ${count} changes, but should have ${sequence}`)
  demand(changedAt === at, 'I14', `${userId} was changed at ${changedAt}, not at ${at}`)
  const recorded = quota.capacity_state
  demand(recorded === state, 'I14', `${userId} is ${recorded}, but should be ${state}`)
}

function line(change: ModelChange): string {
  return COLUMNS.map((column) => `${column}: ${change[column]}`).join(' ')
}

const COLUMNS = [
  'sequence',
  'type',
  'at',
  'previous_at',
  'name',
  'version',
  'size',
  'sha256',
  'visibility',
  'previous_name',
  'media_type',
  'device_id',
  'capacity',
  'used',
] as const satisfies readonly (keyof ModelChange)[]
