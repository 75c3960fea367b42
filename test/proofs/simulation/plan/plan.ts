import * as fc from 'fast-check'
import { EVERY_FILE, FEW_FILES } from './names.ts'
import type { DeviceShare } from '../../../../src/core/quota/device-share.ts'
import type { PlannedFault } from '../world/faults.ts'
import {
  BASE_CAPACITY,
  CLOCK_JUMPS_MS,
  CLIENT_IDLE_MS,
  HISTORY_LIFETIMES_MS,
  MAX_FILE_SIZE,
  MAX_METADATA_BYTES,
  MAX_PAUSE_MS,
  PART_SIZE,
  UPLOAD_LIFETIMES_MS,
} from './parameters.ts'
import * as resumable from './resumable-actions.ts'
import type { UploadTerms } from './upload-terms.ts'

/** What happens in one run of the simulation: a value that replays it exactly, and that fast-check can shrink. */
export interface Plan {
  /** Of latencies and faults by chance. */
  readonly seed: number
  /** Instances of the service. */
  readonly processes: number
  /** How far the clocks of the instances are ahead, in milliseconds, in turn. */
  readonly skews: readonly number[]
  /** Share of calls that fail, 0 to 1. */
  readonly faultRate: number
  readonly plannedFaults: readonly PlannedFault[]
  /** Whether sweeps meet: the lease that lets one at a time work is everyone's. */
  readonly sweepsMeet: boolean
  /** How long a resumable upload lives without progress, in milliseconds. */
  readonly uploadLifetimeMs: number
  /** How long past versions are kept, in milliseconds; 0 keeps none. */
  readonly historyLifetimeMs: number
  /** What every user has without a grant, in bytes. */
  readonly baseCapacity: number
  /** Number of the event after which an instance dies, if one does. */
  readonly crashAfter?: { readonly event: number; readonly process: number }
  readonly steps: readonly Step[]
}

export interface Step {
  /** Milliseconds after the step before. */
  readonly after: number
  readonly action: Action
}

/** The steps of short plans, by what they are about. */
export type Scenarios = Readonly<Record<string, readonly Step[]>>

/** Numbers name users, files and instances, wrapped around. */
export type Action =
  | UploadAction
  | resumable.ResumableAction
  | {
      readonly kind: 'get' | 'list' | 'stat' | 'remove'
      readonly process: number
      readonly user: number
      readonly file: number
    }
  | RenameAction
  | RestoreAction
  | BatchAction
  | RetainAction
  | { readonly kind: 'grant'; readonly user: number; readonly bytes: number }
  | DeviceAction
  | { readonly kind: 'remove device'; readonly user: number; readonly deviceId: string }
  | { readonly kind: 'suspend' | 'activate' | 'delete user'; readonly user: number }
  | { readonly kind: 'sweep' | 'crash'; readonly process: number }
  | { readonly kind: 'pause'; readonly process: number; readonly ms: number }
  | ClockAction

/** Adds a device to an account, or gives it another share of that. */
export interface DeviceAction {
  readonly kind: 'device'
  readonly user: number
  readonly deviceId: string
  /** What it adds to the capacity. */
  readonly bytes: number
  readonly share: DeviceShare
}

/** Sets the database's clock to so much beside the right time. */
export interface ClockAction {
  readonly kind: 'clock'
  readonly ms: number
}

/** What a client can ask for. */
export type ClientAction =
  | Extract<Action, { readonly file: number }>
  | Extract<Action, { readonly upload: number }>

/** What a client can ask for of files, each by one request. */
export type FileAction = Exclude<ClientAction, resumable.ResumableAction>

export interface UploadAction extends UploadTerms {
  readonly kind: 'upload'
  readonly process: number
  readonly user: number
  readonly file: number
  readonly size: number
  /** What the request says of its size. */
  readonly announced: 'exact' | 'more' | 'nothing'
  readonly client: 'well' | 'breaks off' | 'leaves' | 'malformed' | 'stalls' | 'slow'
}

/** Protects a file from eviction, or no longer; has it expire; gives it other metadata: or leaves these as they are. */
export interface RetainAction {
  readonly kind: 'retain'
  readonly process: number
  readonly user: number
  readonly file: number
  readonly isKept: boolean | undefined
  readonly expiresInMs: number | undefined
  readonly metadataBytes: UploadAction['metadataBytes']
}

export interface RenameAction {
  readonly kind: 'rename'
  readonly process: number
  readonly user: number
  readonly file: number
  readonly to: number
  readonly overwrite: boolean
}

/** Makes a past version the file. */
export interface RestoreAction {
  readonly kind: 'restore'
  readonly process: number
  readonly user: number
  readonly file: number
  /** Number of one of the user's past versions, from the newest end, wrapped around. */
  readonly past: number
  readonly overwrite: boolean
  readonly credential: UploadAction['credential']
}

/** Several changes in one request. */
export interface BatchAction {
  readonly kind: 'batch'
  readonly process: number
  readonly user: number
  readonly file: number
  readonly operations: readonly BatchedAction[]
  readonly credential: UploadAction['credential']
}

export interface BatchedAction {
  readonly op: 'remove' | 'rename' | 'keep' | 'restore' | 'move' | 'clear'
  readonly file: number
  readonly to: number
  readonly past: number
  /** Which folder is moved into which other, or deleted. */
  readonly folder: number
  readonly toFolder: number
  readonly overwrite: boolean
  readonly ignoresMissing: boolean
}

const process = fc.nat({ max: 2 })
// Mostly the same user and file, so that operations meet.
const user = fc.constantFrom(0, 0, 0, 1)
const file = fc.constantFrom(0, 0, 0, 1, 1, 2, 2, 3, 4)

const folder = fc.constantFrom(1, 1, 1, 2, 2, 2, 0, 3)

const size = fc.oneof(
  fc.constantFrom(0, 1, PART_SIZE - 1, PART_SIZE, PART_SIZE + 1, 3 * PART_SIZE, MAX_FILE_SIZE + 1),
  fc.nat({ max: MAX_FILE_SIZE }),
)

const uploading = {
  kind: fc.constant('upload' as const),
  process,
  user,
  file,
  size,
  announced: often<UploadAction['announced']>(3, 'exact', ['more', 'nothing']),
  client: often<UploadAction['client']>(12, 'well', [
    'breaks off',
    'leaves',
    'malformed',
    'stalls',
    'slow',
  ]),
  demands: often<UploadAction['demands']>(12, 'nothing', [
    'no file',
    'a file',
    'wrong digest',
    'right digest',
  ]),
  evict: resumable.evict,
  expiresInMs: resumable.expiresInMs,
  metadataBytes: resumable.metadataBytes,
  credential: resumable.credential,
  deviceId: resumable.deviceId,
}

const upload: fc.Arbitrary<UploadAction> = fc.record(uploading)

const retain: fc.Arbitrary<RetainAction> = fc.record({
  kind: fc.constant('retain'),
  process,
  user,
  file,
  isKept: fc.constantFrom(undefined, true, true, true, false),
  expiresInMs: resumable.expiresInMs,
  metadataBytes: resumable.metadataBytes,
})

const batch: fc.Arbitrary<BatchAction> = fc.record({
  kind: fc.constant('batch'),
  process,
  user,
  file,
  operations: fc.array(
    fc.record({
      op: fc.constantFrom(
        'remove',
        'rename',
        'keep',
        'restore',
        'restore',
        'move',
        'move',
        'clear',
      ),
      file,
      to: file,
      folder,
      toFolder: folder,
      past: fc.constantFrom(0, 0, 1, 2),
      overwrite: fc.boolean(),
      ignoresMissing: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  credential: resumable.credential,
})

const fileAction: fc.Arbitrary<Action> = fc.oneof(
  { weight: 36, arbitrary: upload },
  {
    weight: 20,
    arbitrary: fc.record({
      kind: fc.constantFrom('get', 'get', 'get', 'list', 'stat', 'remove', 'remove', 'remove'),
      process,
      user,
      file,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('rename'),
      process,
      user,
      file,
      to: file,
      overwrite: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: retain },
  { weight: 6, arbitrary: batch },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('restore'),
      process,
      user,
      file,
      past: fc.constantFrom(0, 0, 1, 2),
      overwrite: fc.boolean(),
      credential: resumable.credential,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('grant'),
      user,
      bytes: fc.constantFrom(0, 10, 100, 400, MAX_METADATA_BYTES),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('suspend', 'activate', 'activate', 'activate', 'delete user'),
      user,
    }),
  },
  {
    weight: 16,
    arbitrary: fc.record({ kind: fc.constantFrom('sweep', 'sweep', 'sweep', 'crash'), process }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('pause'),
      process,
      ms: fc.nat({ max: MAX_PAUSE_MS }),
    }),
  },
)

const resumableAction: fc.Arbitrary<Action> = fc.oneof(
  { weight: 10, arbitrary: resumable.create },
  { weight: 20, arbitrary: resumable.append },
  { weight: 10, arbitrary: resumable.named },
)

/** Uploads of files of which a few fill the capacity, so that they evict, and must not evict what is kept. */
const rolling: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      ...uploading,
      file: fc.nat({ max: 3 }),
      size: fc.integer({ min: PART_SIZE, max: 3 * PART_SIZE }),
      evict: fc.constantFrom(undefined, EVERY_FILE, EVERY_FILE, FEW_FILES),
    }),
  },
  { weight: 3, arbitrary: retain },
  { weight: 1, arbitrary: fileAction },
)

const camera = fc.constantFrom('camera-a', 'camera-a', 'camera-b')

/** Devices that share an account, some of them narrowly, and take turns in its files. */
const sharing: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      ...uploading,
      deviceId: fc.oneof({ weight: 5, arbitrary: camera }, resumable.deviceId),
      evict: fc.constantFrom(undefined, EVERY_FILE, EVERY_FILE, FEW_FILES),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('device' as const),
      user,
      deviceId: camera,
      bytes: fc.constantFrom(0, PART_SIZE, 2 * PART_SIZE),
      share: fc.oneof(
        fc.constantFrom('all' as const, 'own' as const, 0),
        fc.nat({ max: BASE_CAPACITY }),
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('remove device' as const), user, deviceId: camera }),
  },
  { weight: 3, arbitrary: fc.oneof(resumable.create, resumable.append) },
  { weight: 4, arbitrary: fileAction },
)

/** What ends is short-lived or removed, while the clock jumps and sweeps go on. */
const jumping: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      ...uploading,
      expiresInMs: resumable.soon,
      // So that they evict.
      size: fc.integer({ min: PART_SIZE, max: 3 * PART_SIZE }),
      evict: fc.constantFrom(undefined, EVERY_FILE, EVERY_FILE),
    }),
  },
  { weight: 2, arbitrary: retain },
  { weight: 4, arbitrary: fileAction },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('clock' as const),
      ms: fc.constantFrom(0, 0, ...CLOCK_JUMPS_MS),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('sweep' as const), process }) },
)

const gap = fc.oneof(
  { weight: 6, arbitrary: fc.nat({ max: 30 }) },
  { weight: 3, arbitrary: fc.nat({ max: CLIENT_IDLE_MS }) },
  { weight: 1, arbitrary: fc.nat({ max: 20 * CLIENT_IDLE_MS }) },
)

/**
 * Steps in which files alone are at stake, resumable uploads as well, mostly those, the room for files, the shares of
 * devices, or the clock.
 */
const steps = fc.oneof(
  { weight: 2, arbitrary: stepsOf(fileAction) },
  { weight: 2, arbitrary: stepsOf(fc.oneof(fileAction, resumableAction)) },
  {
    weight: 2,
    arbitrary: stepsOf(
      fc.oneof({ weight: 1, arbitrary: fileAction }, { weight: 4, arbitrary: resumableAction }),
    ),
  },
  { weight: 1, arbitrary: stepsOf(rolling) },
  { weight: 1, arbitrary: stepsOf(sharing) },
  { weight: 1, arbitrary: stepsOf(jumping) },
)

/** Every plan there is. */
export const plans: fc.Arbitrary<Plan> = fc.record({
  seed: fc.integer(),
  processes: fc.integer({ min: 1, max: 3 }),
  skews: fc.array(fc.constantFrom(0, 3_600_000, -3_600_000, 50_000), { maxLength: 3 }),
  faultRate: fc.constantFrom(0, 0.02, 0.05, 0.15, 0.3),
  plannedFaults: fc.constant([]),
  steps,
  sweepsMeet: fc.boolean(),
  uploadLifetimeMs: fc.constantFrom(...UPLOAD_LIFETIMES_MS),
  historyLifetimeMs: fc.constantFrom(...HISTORY_LIFETIMES_MS),
  baseCapacity: fc.oneof(
    { weight: 7, arbitrary: fc.constant(BASE_CAPACITY) },
    { weight: 1, arbitrary: fc.constant(0) },
  ),
})

function stepsOf(action: fc.Arbitrary<Action>): fc.Arbitrary<readonly Step[]> {
  return fc.array(fc.record({ after: gap, action }), { minLength: 2, maxLength: 40, size: 'max' })
}

function often<T extends string>(weight: number, usual: T, rare: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight, arbitrary: fc.constant(usual) },
    { weight: rare.length, arbitrary: fc.constantFrom(...rare) },
  )
}
