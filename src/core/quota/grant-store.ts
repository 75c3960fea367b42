import type { UserId } from '../users/user-id.ts'
import type { DeviceShare } from './device-share.ts'

/** Adds bytes to a user's capacity. (source, reference) is unique per user. Times are milliseconds since 1970. */
export interface Grant extends GrantName, GrantTerms {
  readonly createdAt: number
}

export interface GrantName {
  readonly source: string
  readonly reference: string
}

export interface GrantTerms {
  readonly bytes: number
  /** The model of the device; set only for grants with the source `device`. */
  readonly model: string | undefined
  /** The name that people know the device by; only grants with the source `device` can have one. */
  readonly label?: string | undefined
  /** Set for all grants with the source `device`, and for no others. */
  readonly share?: DeviceShare | undefined
  /** Inclusive; `undefined` if the grant starts at once. */
  readonly startsAt: number | undefined
  /** Exclusive; `undefined` if the grant never ends. */
  readonly endsAt: number | undefined
}

export interface GrantKey extends GrantName {
  readonly userId: UserId
}

export interface NewGrant extends GrantKey, GrantTerms {}

export interface GrantFilter {
  readonly userId: UserId
  readonly source?: string
  readonly page?: GrantPage | undefined
}

export interface GrantPage {
  readonly after: GrantName | undefined
  readonly limit: number
}

/** PORT: the grants of users. It keeps the contract of `UserStore`. */
export interface GrantStore {
  /**
   * Guarantees one grant for (source, reference) with exactly these terms. Idempotent. `created` is true if the grant
   * did not exist. Takes the user's lock, so every commit sees the grant either before or after
   * the change.
   */
  putGrant(grant: NewGrant): Promise<{ readonly grant: Grant; readonly created: boolean }>

  /**
   * Deletes the grant, which no longer counts, and revokes the tokens of its device, if it is one. Idempotent, also for
   * an unknown grant. Takes the user's lock.
   */
  revokeGrant(grant: GrantKey): Promise<void>

  /** Whether the user has this device. One indexed read. */
  hasDevice(device: { readonly userId: UserId; readonly deviceId: string }): Promise<boolean>

  /** The user's grants that are not revoked, ordered bytewise by source and reference. */
  listGrants(filter: GrantFilter): Promise<readonly Grant[]>
}
