import { assertLabel } from '../auth/terms.ts'
import { isByteSize } from '../byte-size.ts'
import { invalidParameter } from '../errors.ts'
import type { UserId } from '../users/user-id.ts'
import { assertDeviceShare, type DeviceShare } from './device-share.ts'
import type { Grant, GrantKey, GrantPage, GrantStore } from './grant-store.ts'

export interface GrantsOptions {
  readonly users: GrantStore
  /** Called after the tokens of a removed device were revoked, or may have been. */
  readonly onRemove?: (userId: UserId) => void
  /** Bytes for a device without a model. */
  readonly deviceCapacity: number
  /** If empty, every model is accepted and adds `deviceCapacity`. Else a device of another model is refused. */
  readonly deviceModels: ReadonlyMap<string, number>
  /** The share of a device that asks for none. */
  readonly deviceShare: DeviceShare
}

export interface PutGrant extends GrantKey {
  readonly bytes: number
  readonly startsAt: number | undefined
  readonly endsAt: number | undefined
}

interface DeviceKey {
  readonly userId: UserId
  readonly deviceId: string
}

export interface PutDevice extends DeviceKey {
  readonly model: string | undefined
  /** Overrides the model's bytes. */
  readonly bytes: number | undefined
  readonly label: string | undefined
  readonly share: DeviceShare | undefined
}

export interface PutResult {
  readonly grant: Grant
  readonly created: boolean
}

/**
 * Grants, such as one per device, add to the base capacity (README.md). Methods are idempotent by (source, reference):
 * the last terms apply. They reject invalid terms with `invalid_parameter` (fact `parameter`), and an unknown user with
 * `not_found`.
 */
export type Grants = ReturnType<typeof createGrants>

/** The source of the grants of devices, whose references are the ids of the devices. */
export const DEVICE = 'device'

export function createGrants(options: GrantsOptions) {
  const { users, deviceCapacity, deviceModels, deviceShare } = options
  const { onRemove = () => undefined } = options
  return {
    async putDevice(device: PutDevice): Promise<PutResult> {
      const { userId, deviceId, model, bytes, label, share = deviceShare } = device
      assertReference(deviceId, 'device_id')
      if (model !== undefined) assertModel(model, deviceModels)
      const granted = bytes ?? deviceModels.get(model ?? '') ?? deviceCapacity
      assertBytes(granted)
      if (label !== undefined) assertLabel(label)
      assertDeviceShare(share)
      return users.putGrant({
        userId,
        source: DEVICE,
        reference: deviceId,
        bytes: granted,
        model,
        label,
        share,
        startsAt: undefined,
        endsAt: undefined,
      })
    },

    /** Revokes the device's tokens too: they are refused on this instance at once, on others within 5 s. */
    async removeDevice({ userId, deviceId }: DeviceKey): Promise<void> {
      assertReference(deviceId, 'device_id')
      try {
        await users.revokeGrant({ userId, source: DEVICE, reference: deviceId })
      } finally {
        onRemove(userId)
      }
    },

    listDevices: (userId: UserId, page?: GrantPage) =>
      users.listGrants({ userId, source: DEVICE, page }),

    async putGrant(grant: PutGrant): Promise<PutResult> {
      assertSource(grant.source)
      assertReference(grant.reference, 'reference')
      assertBytes(grant.bytes)
      assertPeriod(grant)
      return users.putGrant({ ...grant, model: undefined })
    },

    async revokeGrant(grant: GrantKey): Promise<void> {
      assertSource(grant.source)
      assertReference(grant.reference, 'reference')
      await users.revokeGrant(grant)
    },

    /** All grants that are not revoked, devices included. */
    listGrants: (userId: UserId, page?: GrantPage) => users.listGrants({ userId, page }),
  }
}

/** Sources of grants made by hand; `base` and `device` are reserved. */
export const SOURCE_PATTERN = '^(?!(base|device)$)[a-z][a-z0-9_-]{0,31}$'

/** A grant's reference or a device's id. */
export const REFERENCE_PATTERN = '^[A-Za-z0-9._:@-]{1,128}$'

export const MODEL_PATTERN = '^[ -~]{1,128}$'

const SOURCE = new RegExp(SOURCE_PATTERN)
const REFERENCE = new RegExp(REFERENCE_PATTERN)
const MODEL = new RegExp(MODEL_PATTERN)

function assertSource(source: string): void {
  assert(
    SOURCE.test(source),
    'source',
    source === 'base' || source === DEVICE
      ? 'must not be "base" or "device", which are reserved'
      : 'must be 1 to 32 characters from a-z, 0-9, "_" and "-", starting with a letter',
  )
}

export function isReference(text: string): boolean {
  return REFERENCE.test(text)
}

function assertReference(reference: string, parameter: string): void {
  assert(
    isReference(reference),
    parameter,
    'must be 1 to 128 characters from A-Z, a-z, 0-9, ".", "_", ":", "@" and "-"',
  )
}

/** A misspelt model would otherwise silently add the capacity of a device without a model. */
function assertModel(model: string, known: ReadonlyMap<string, number>): void {
  assert(MODEL.test(model), 'model', 'must be 1 to 128 printable ASCII characters')
  const isKnown = known.size === 0 || known.has(model)
  assert(isKnown, 'model', `must be in DEVICE_MODELS, which has: ${[...known.keys()].join(', ')}`)
}

function assertBytes(bytes: number): void {
  assert(isByteSize(bytes), 'bytes', 'must be an integer between 0 and 2^53 - 1')
}

function assertPeriod({ startsAt, endsAt }: PutGrant): void {
  const ordered = startsAt === undefined || endsAt === undefined || endsAt > startsAt
  assert(ordered, 'ends_at', 'must be later than starts_at')
}

function assert(truth: boolean, parameter: string, rule: string): asserts truth {
  if (truth) return
  throw invalidParameter(parameter, `${parameter} ${rule}.`)
}
