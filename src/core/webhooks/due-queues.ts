import type { UserId } from '../users/user-id.ts'
import type { WebhookLedger, WebhookQueue } from './webhook-ledger.ts'

/** The queues whose next events are due, each for one worker at a time. */
export interface DueQueues {
  /** A queue that no other worker has; `undefined` if none is due. */
  take(): Promise<WebhookQueue | undefined>
  giveBack(queue: WebhookQueue): void
}

/** Asks for as many as `workers` need, and after an empty answer not before `pollMs` have passed. */
export function createDueQueues(
  ledger: WebhookLedger,
  { workers, pollMs }: { readonly workers: number; readonly pollMs: number },
): DueQueues {
  const taken = new Set<UserId>()
  let listing: Promise<void> | undefined
  let idleUntil = 0
  let due: WebhookQueue[] = []

  async function list(): Promise<void> {
    // A queue that is given back meanwhile may be listed as it was before.
    const skipped = new Set(taken)
    const listed = await ledger.listDueWebhooks(2 * workers)
    due = listed.filter(({ userId }) => !skipped.has(userId))
    if (due.length === 0) idleUntil = performance.now() + pollMs
  }

  return {
    async take() {
      if (due.length === 0 && performance.now() >= idleUntil) {
        await (listing ??= list().finally(() => (listing = undefined)))
      }
      const queue = due.shift()
      if (queue !== undefined) taken.add(queue.userId)
      return queue
    },
    giveBack({ userId }) {
      taken.delete(userId)
      idleUntil = 0
    },
  }
}
