import type { ChangesRead } from '../changes/change-ledger.ts'
import type { UserId } from '../users/user-id.ts'
import type { Webhook } from './webhook.ts'

/** Where the delivery of a user's events stands. */
export interface WebhookQueue {
  readonly userId: UserId
  /** The sequence of the last change that was delivered, parked or left out. */
  readonly delivered: number
  /** Set if the user's purge is the next event, before all changes: those of a new user with this id. */
  readonly purgedAt: number | undefined
  /** Failed attempts since the last delivery. */
  readonly attempts: number
  /** Milliseconds since the first of them; 0 if there are none. */
  readonly failingForMs: number
}

export interface FailedWebhook extends Webhook {
  readonly attempts: number
  /** Why the last attempt failed. */
  readonly reason: string
}

export interface ParkedWebhook extends FailedWebhook {
  readonly parkedAt: number
}

export interface ParkedPlace {
  readonly parkedAt: number
  readonly id: string
}

/** What became of some events of a queue. */
export interface WebhookOutcome {
  readonly queue: WebhookQueue
  readonly delivered: number
  /** Whether the event of the purge, which the queue has, is among them. */
  readonly isPurgeDone: boolean
  /** If the event after them failed: how often by now, and when it is due again. */
  readonly failure: { readonly attempts: number; readonly delayMs: number } | undefined
  /** The last of them, if it was given up. */
  readonly parked: FailedWebhook | undefined
}

/**
 * PORT: the events to be delivered by webhooks. The transactions that record changes, and the one that ends a purge,
 * queue their user if the ledger is told to. As every part of the ledger, it keeps the contract of `UploadLedger`.
 */
export interface WebhookLedger {
  /** Up to `limit` queues that are due, those that have been due longest first. Purges are confirmed. */
  listDueWebhooks(limit: number): Promise<readonly WebhookQueue[]>

  /**
   * Up to `limit` changes that the queue has not delivered, as `ChangeLedger.readChanges` reads them, also of a user who is
   * suspended or deleted. `undefined` if the queue is no longer as it was read, or the user is unknown.
   */
  readUndelivered(
    queue: WebhookQueue,
    limit: number,
  ): Promise<(ChangesRead & { readonly isDeleted: boolean }) | undefined>

  /** Does nothing if the queue is no longer as it was read. A queue without further events is deleted. */
  settleWebhooks(outcome: WebhookOutcome): Promise<void>

  /** Those that were parked first come first. */
  listParked(page: {
    readonly after: ParkedPlace | undefined
    readonly limit: number
  }): Promise<readonly ParkedWebhook[]>

  findParked(id: string): Promise<ParkedWebhook | undefined>

  /** Returns what it has deleted. Idempotent. */
  deleteParked(id: string): Promise<ParkedWebhook | undefined>

  measureWebhooks(cap: number): Promise<{
    /** At most `cap`. */
    readonly parked: number
    /** How long the oldest event that is not delivered has waited; 0 if there is none. */
    readonly oldestMs: number
  }>
}
