import type { Version } from '../objects/object-key.ts'
import type { UserId } from '../users/user-id.ts'

/** What the audit trail keeps. */
export const OPERATOR_ACTIONS = [
  'user.create',
  'user.set_status',
  'user.delete',
  'access_token.issue',
  'access_token.revoke',
  'device.put',
  'device.remove',
  'grant.put',
  'grant.revoke',
  'upload.cancel',
  'files.list',
  'files.archive',
  'file.delete',
  'history.restore',
  'link.update',
  'link.revoke',
  'webhook.retry',
  'webhook.discard',
  'operator.add',
  'operator.remove',
  'session.open',
  'session.close',
] as const

export type ActionName = (typeof OPERATOR_ACTIONS)[number]

/** The terms of an action: never a secret or a file name, and at most 2 KiB as JSON. */
export type ActionDetails = Readonly<Record<string, string | number | boolean | null | undefined>>

export interface NewOperatorAction {
  /** In the order of the actions, by the clocks of the instances. */
  readonly actionId: Version
  readonly action: ActionName
  /** `undefined` for what concerns no user. The user may have been purged since. */
  readonly userId: UserId | undefined
  /** The name of who did it, who may have been removed since; `undefined` for the `ADMIN_TOKEN` and the command line. */
  readonly operator: string | undefined
  readonly details: ActionDetails
  /** The address of the client; `undefined` for the command line, as is `requestId`. */
  readonly address: string | undefined
  readonly requestId: string | undefined
}

/** What an operator did. */
export interface OperatorAction extends NewOperatorAction {
  /** Milliseconds since 1970 by the database's clock. */
  readonly at: number
}

/** PORT: the audit trail of operators. As every part of the ledger, it keeps the contract of `UploadLedger`. */
export interface AuditLedger {
  /** Does nothing if the trail has the id. */
  recordOperatorAction(action: NewOperatorAction): Promise<void>

  /**
   * Up to `limit` actions before `after`, newest first; with `userId`, only those that concern the user, and with
   * `operator`, only those of that name.
   */
  listOperatorActions(page: {
    readonly userId: UserId | undefined
    readonly operator: string | undefined
    readonly after: Version | undefined
    readonly limit: number
  }): Promise<readonly OperatorAction[]>

  /**
   * Deletes, of the `limit` oldest actions, those that are older than `lifetimeMs` or not among the `most` newest ones.
   * Returns how many.
   */
  forgetOperatorActions(bounds: {
    readonly lifetimeMs: number
    readonly most: number
    readonly limit: number
  }): Promise<number>
}
