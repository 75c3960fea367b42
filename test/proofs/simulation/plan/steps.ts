import { MAX_FILE_SIZE, PART_SIZE } from './parameters.ts'
import type {
  Action,
  BatchAction,
  BatchedAction,
  DeviceAction,
  RestoreAction,
  RetainAction,
  Step,
  UploadAction,
} from './plan.ts'
import type { AppendAction, CreateAction } from './resumable-actions.ts'

export function upload(changes: Partial<UploadAction> = {}): UploadAction {
  return {
    kind: 'upload',
    process: 0,
    user: 0,
    file: 0,
    size: PART_SIZE,
    announced: 'exact',
    client: 'well',
    demands: 'nothing',
    evict: undefined,
    expiresInMs: undefined,
    metadataBytes: undefined,
    credential: undefined,
    deviceId: undefined,
    ...changes,
  }
}

/** Of the first file. */
export function retain(changes: Partial<RetainAction> = {}): RetainAction {
  const nothing = { isKept: undefined, expiresInMs: undefined, metadataBytes: undefined }
  return { kind: 'retain', process: 0, user: 0, file: 0, ...nothing, ...changes }
}

export function create(changes: Partial<CreateAction> = {}): CreateAction {
  return {
    kind: 'create',
    process: 0,
    user: 0,
    file: 0,
    size: PART_SIZE,
    isDeferred: false,
    bytes: 0,
    client: 'well',
    demands: 'nothing',
    evict: undefined,
    expiresInMs: undefined,
    metadataBytes: undefined,
    credential: undefined,
    deviceId: undefined,
    ...changes,
  }
}

/** Adds the device, or changes its share. */
export function device(deviceId: string, share: DeviceAction['share']): DeviceAction {
  return { kind: 'device', user: 0, deviceId, bytes: 0, share }
}

/** Of all that is left to send. */
export function append(changes: Partial<AppendAction> = {}): AppendAction {
  return {
    kind: 'append',
    process: 0,
    upload: 0,
    bytes: MAX_FILE_SIZE,
    asks: false,
    isSized: true,
    declares: false,
    client: 'well',
    checksum: 'none',
    isForeign: false,
    twin: 'none',
    ...changes,
  }
}

/** Of the version that ended last, under the first name. */
export function restore(changes: Partial<RestoreAction> = {}): RestoreAction {
  const first = { process: 0, user: 0, file: 0, past: 0 }
  return { kind: 'restore', ...first, overwrite: false, credential: undefined, ...changes }
}

/** Of the first file, unless it says another. */
export function batched(
  op: BatchedAction['op'],
  changes: Partial<BatchedAction> = {},
): BatchedAction {
  const first = { file: 0, to: 0, past: 0, folder: 1, toFolder: 2 }
  return { op, ...first, overwrite: false, ignoresMissing: false, ...changes }
}

export function batch(...operations: readonly BatchedAction[]): BatchAction {
  return { kind: 'batch', process: 1, user: 0, file: 0, operations, credential: undefined }
}

export function act(kind: 'get' | 'remove', process: number): Action {
  return { kind, process, user: 0, file: 0 }
}

export function now(action: Action): Step {
  return { after: 0, action }
}

/** When what was begun before is under way. */
export function soon(action: Action): Step {
  return { after: 20, action }
}

/** When all that was begun before has ended, if nothing fails. */
export function later(action: Action): Step {
  return { after: LATER_MS, action }
}

export const LATER_MS = 5000
