import { randomUUID } from 'node:crypto'
import { sleep } from '../async/sleep.ts'
import { createLeaderLease, type LeaderLease, type LeaderLeases } from '../sweep/leader-lease.ts'
import type { UserId } from '../users/user-id.ts'
import {
  PARK_AFTER_MS,
  purgeWebhook,
  type Webhook,
  webhookOf,
  type Delivery,
  SEND_TIMEOUT_MS,
  type WebhookSender,
} from './webhook.ts'
import type { WebhookLedger, WebhookOutcome, WebhookQueue } from './webhook-ledger.ts'

export interface WebhookDeliveryOptions {
  readonly ledger: WebhookLedger & LeaderLeases
  readonly sender: WebhookSender
  /** The types that are sent. Others are left out. */
  readonly events: ReadonlySet<string>
  readonly hooks: WebhookHooks
  readonly times?: Partial<WebhookTimes> | undefined
}

export interface WebhookHooks {
  /** Called for each event that was delivered. */
  readonly onDelivered: () => void
  /** Called for each attempt that failed. */
  readonly onFailed: (webhook: Webhook, reason: string) => void
  /** Called for each event that is parked, after `onFailed`. */
  readonly onParked: (webhook: Webhook, reason: string) => void
  /** Called with the number of a user's events that expired, being too old or too many, before they were delivered. */
  readonly onExpired: (userId: UserId, events: number) => void
  /** Called for each failure of the database. The delivery goes on. */
  readonly onError: (error: unknown) => void
}

export interface WebhookTimes {
  readonly pollMs: number
  /** How long a crashed instance blocks the others, but for `askMs`. Longer than an attempt. */
  readonly leaseMs: number
  /** How often the others ask for the lease. */
  readonly askMs: number
  readonly firstRetryMs: number
  readonly maxRetryMs: number
  /** How long an event may fail until it is parked. */
  readonly parkAfterMs: number
}

const TIMES: WebhookTimes = {
  pollMs: 500,
  leaseMs: 16_000,
  askMs: 2_000,
  firstRetryMs: 1_000,
  maxRetryMs: 3_600_000,
  parkAfterMs: PARK_AFTER_MS,
}

/** Users to whose events attempts are made at the same time. */
const AT_ONCE = 16

/** Longest turn of one user while others wait. */
const TURN_MS = 5_000
const EVENTS_PER_TURN = 50

export function createWebhookDelivery(options: WebhookDeliveryOptions) {
  const { ledger, hooks } = options
  const times = { ...TIMES, ...options.times }
  const { leaseMs, askMs } = times

  async function deliverAlone(signal: AbortSignal): Promise<void> {
    const lease = createLeaderLease({ ledger, name: 'webhooks', holder: randomUUID(), leaseMs })
    if (!(await lease.acquire(signal))) return
    try {
      const failing = new AbortController()
      const queues = createDueQueues(ledger, { workers: AT_ONCE, pollMs: times.pollMs })
      const turn = { ...options, times, lease, signal: AbortSignal.any([signal, failing.signal]) }
      const workers = Array.from({ length: AT_ONCE }, () => work(queues, turn))
      const fail = (reason: unknown): void => failing.abort(reason)
      await Promise.all(workers.map((worker) => worker.catch(fail)))
      failing.signal.throwIfAborted()
    } finally {
      await lease.release()
    }
  }

  return {
    /**
     * Delivers events until `signal` aborts, then resolves; on one instance at a time. Each user's events are sent in
     * order, each until it is delivered or has failed for 24 hours; users do not wait for one another.
     */
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        await deliverAlone(signal).catch((error: unknown) => {
          if (!signal.aborted) hooks.onError(error)
        })
        await sleep(askMs, signal).catch(() => undefined)
      }
    },
  }
}

interface DeliveryRun extends WebhookDeliveryOptions {
  readonly times: WebhookTimes
  readonly lease: LeaderLease
  readonly signal: AbortSignal
}

/** Until the lease is lost. A failure that concerns one user does not stop the others. */
async function work(queues: DueQueues, run: DeliveryRun): Promise<void> {
  const { ledger, lease, signal, times, hooks } = run
  while (await lease.isHeld()) {
    signal.throwIfAborted()
    const queue = await queues.take()
    if (queue === undefined) {
      await sleep(times.pollMs, signal)
      continue
    }
    try {
      const outcome = await deliver(queue, run)
      if (outcome !== undefined) await ledger.settleWebhooks(outcome)
    } catch (error) {
      signal.throwIfAborted()
      hooks.onError(error)
      await sleep(times.askMs, signal)
    } finally {
      queues.giveBack(queue)
    }
  }
}

/**
 * Sends the next events of a user, up to the first that fails. `undefined` if the lease or the service ended before
 * anything was done.
 */
async function deliver(queue: WebhookQueue, run: DeliveryRun): Promise<WebhookOutcome | undefined> {
  const { sender, lease, signal, hooks } = run
  const endsAt = performance.now() + TURN_MS
  const { delivered } = queue
  const nothing = { queue, delivered, isPurgeDone: false, failure: undefined, parked: undefined }
  let outcome: WebhookOutcome = nothing
  let isFirst = queue.attempts === 0
  for (const next of await nextOf(queue, run)) {
    const { event } = next
    if (event !== undefined) {
      if (performance.now() > endsAt) break
      // The last moment: another instance must not send the user's events at the same time.
      const isOver = signal.aborted || !(await lease.isHeld(SEND_TIMEOUT_MS))
      const delivery = isOver ? undefined : await sendUntilAborted(sender, event, signal)
      if (delivery === undefined) return outcome === nothing ? undefined : outcome
      if (!delivery.isDelivered) return failed({ event, delivery, isFirst, outcome, next }, run)
      hooks.onDelivered()
      isFirst = true
    }
    const { delivered: done, isPurgeDone } = next
    outcome = { queue, delivered: done, isPurgeDone, failure: undefined, parked: undefined }
  }
  return outcome
}

async function sendUntilAborted(
  sender: WebhookSender,
  event: Webhook,
  signal: AbortSignal,
): Promise<Delivery | undefined> {
  try {
    return await sender.send(event, signal)
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
}

/** What is done once the event is sent or given up. It is `undefined` if nothing is to be sent. */
interface Next {
  readonly event: Webhook | undefined
  readonly delivered: number
  readonly isPurgeDone: boolean
}

async function nextOf(queue: WebhookQueue, run: DeliveryRun): Promise<readonly Next[]> {
  const { ledger, events, hooks } = run
  const { userId, delivered, purgedAt } = queue
  const wanted = (event: Webhook) => (events.has(event.type) ? event : undefined)
  if (purgedAt !== undefined) {
    return [{ event: wanted(purgeWebhook(userId, purgedAt)), delivered, isPurgeDone: true }]
  }
  const read = await ledger.readUndelivered(queue, EVENTS_PER_TURN)
  if (read === undefined) return []
  const { changes, latest, isDeleted } = read
  const before = (changes[0]?.sequence ?? latest.sequence + 1) - 1
  const expired = before - delivered
  if (expired > 0 && !isDeleted) hooks.onExpired(userId, expired)
  const skipped = expired > 0 ? [{ event: undefined, delivered: before, isPurgeDone: false }] : []
  return [
    ...skipped,
    ...changes.map((change) => ({
      event: wanted(webhookOf(userId, change)),
      delivered: change.sequence,
      isPurgeDone: false,
    })),
  ]
}

interface Failed {
  readonly event: Webhook
  readonly delivery: Extract<Delivery, { isDelivered: false }>
  /** Whether nothing has failed since the last event that was delivered. */
  readonly isFirst: boolean
  /** What was done before. */
  readonly outcome: WebhookOutcome
  readonly next: Next
}

function failed(
  { event, delivery, isFirst, outcome, next }: Failed,
  { hooks, times }: DeliveryRun,
): WebhookOutcome {
  const { queue, delivered } = outcome
  const { reason } = delivery
  hooks.onFailed(event, reason)
  const attempts = isFirst ? 1 : queue.attempts + 1
  // Those before it may have been deleted.
  const isOther = isFirst || delivered > queue.delivered
  const failingForMs = isOther ? 0 : queue.failingForMs
  const leftMs = times.parkAfterMs - failingForMs
  if (leftMs <= 0) {
    hooks.onParked(event, reason)
    const parked = { ...event, attempts, reason }
    const { delivered: done, isPurgeDone } = next
    return { queue, delivered: done, isPurgeDone, failure: undefined, parked }
  }
  const delayMs = Math.min(leftMs, delayOf(attempts, delivery, times))
  const { isPurgeDone } = outcome
  return { queue, delivered, isPurgeDone, failure: { attempts, delayMs }, parked: undefined }
}

/** Doubles up to the longest, give or take a fifth, so that users whose events failed at once do not stay together. */
function delayOf(
  attempts: number,
  { retryAfterMs = 0 }: Failed['delivery'],
  { firstRetryMs, maxRetryMs }: WebhookTimes,
): number {
  const doubled = Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(attempts - 1, 30))
  const delayMs = Math.round(doubled * (0.8 + 0.4 * Math.random()))
  return Math.max(delayMs, retryAfterMs)
}

/** The queues whose next events are due, each for one worker at a time. */
type DueQueues = ReturnType<typeof createDueQueues>

/** Asks for as many as `workers` need, and after an empty answer not before `pollMs` have passed. */
function createDueQueues(
  ledger: WebhookLedger,
  { workers, pollMs }: { readonly workers: number; readonly pollMs: number },
) {
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
    /** A queue that no other worker has; `undefined` if none is due. */
    async take(): Promise<WebhookQueue | undefined> {
      if (due.length === 0 && performance.now() >= idleUntil) {
        await (listing ??= list().finally(() => (listing = undefined)))
      }
      const queue = due.shift()
      if (queue !== undefined) taken.add(queue.userId)
      return queue
    },
    giveBack({ userId }: WebhookQueue): void {
      taken.delete(userId)
      idleUntil = 0
    },
  }
}
