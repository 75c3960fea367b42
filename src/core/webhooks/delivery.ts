import { randomUUID } from 'node:crypto'
import { sleep } from '../async/sleep.ts'
import { createLeaderLease, type LeaderLease, type LeaderLeases } from '../sweep/leader-lease.ts'
import type { UserId } from '../users/user-id.ts'
import { purgeWebhook, type Webhook, webhookOf } from './webhook.ts'
import type { WebhookLedger, WebhookOutcome, WebhookQueue } from './webhook-ledger.ts'
import { type Delivery, SEND_TIMEOUT_MS, type WebhookSender } from './webhook-sender.ts'

export interface WebhookDelivery {
  /**
   * Delivers events until `signal` aborts, then resolves; on one instance at a time. Each user's events are sent in
   * order, each until it is delivered or has failed for 24 hours; users do not wait for one another.
   */
  run(signal: AbortSignal): Promise<void>
}

export interface WebhookDeliveryOptions {
  readonly ledger: WebhookLedger & LeaderLeases
  readonly sender: WebhookSender
  /** The types that are sent. Others are left out. */
  readonly events: ReadonlySet<string>
  readonly hooks: WebhookHooks
  readonly times?: Partial<WebhookTimes> | undefined
}

export interface WebhookHooks {
  readonly onDelivered: () => void
  readonly onFailed: (webhook: Webhook, reason: string) => void
  readonly onParked: (webhook: Webhook, reason: string) => void
  /** Events that were deleted, being too old or too many, before they were delivered. */
  readonly onDropped: (userId: UserId, events: number) => void
  /** The database failed. The delivery goes on. */
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
  parkAfterMs: 24 * 3_600_000,
}

/** Users to whose events attempts are made at the same time. */
const AT_ONCE = 16

/** Longest turn of one user while others wait. */
const TURN_MS = 5_000
const EVENTS_PER_TURN = 50

export function createWebhookDelivery(options: WebhookDeliveryOptions): WebhookDelivery {
  const { ledger, hooks } = options
  const times = { ...TIMES, ...options.times }
  const { leaseMs, askMs } = times

  async function deliverAlone(signal: AbortSignal): Promise<void> {
    const lease = createLeaderLease({ ledger, name: 'webhooks', holder: randomUUID(), leaseMs })
    try {
      if (!(await lease.acquire({ signal, onWait: undefined }))) return
      const failing = new AbortController()
      const queues = createDueQueues(ledger)
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
    async run(signal) {
      while (!signal.aborted) {
        await deliverAlone(signal).catch((error: unknown) => {
          if (!signal.aborted) hooks.onError(error)
        })
        await sleep(askMs, signal).catch(() => undefined)
      }
    },
  }
}

interface DueQueues {
  /** A queue that no other worker has; `undefined` if none is due. */
  take(): Promise<WebhookQueue | undefined>
  giveBack(queue: WebhookQueue): void
}

function createDueQueues(ledger: WebhookLedger): DueQueues {
  const taken = new Set<UserId>()
  let listing: Promise<void> | undefined
  let due: WebhookQueue[] = []

  async function list(): Promise<void> {
    // Those that are given back meanwhile are listed as they were before.
    const skipped = new Set(taken)
    const listed = await ledger.listDueWebhooks(2 * AT_ONCE)
    due = listed.filter(({ userId }) => !skipped.has(userId))
  }

  return {
    async take() {
      if (due.length === 0) await (listing ??= list().finally(() => (listing = undefined)))
      const queue = due.shift()
      if (queue !== undefined) taken.add(queue.userId)
      return queue
    },
    giveBack: ({ userId }) => void taken.delete(userId),
  }
}

interface Turn extends WebhookDeliveryOptions {
  readonly times: WebhookTimes
  readonly lease: LeaderLease
  readonly signal: AbortSignal
}

/** Until the lease is lost. */
async function work(queues: DueQueues, turn: Turn): Promise<void> {
  const { lease, signal, times } = turn
  while (await lease.isHeld(SEND_TIMEOUT_MS)) {
    signal.throwIfAborted()
    const queue = await queues.take()
    if (queue === undefined) {
      await sleep(times.pollMs, signal)
      continue
    }
    try {
      await turn.ledger.settleWebhooks(await deliver(queue, turn))
    } finally {
      queues.giveBack(queue)
    }
  }
}

/** Sends the next events of a user, up to the first that fails. */
async function deliver(queue: WebhookQueue, turn: Turn): Promise<WebhookOutcome> {
  const { userId, purgedAt } = queue
  if (purgedAt !== undefined) {
    const event = purgeWebhook(userId, purgedAt)
    return await attempt({ event, queue, done: { ...doneOf(queue), isPurgeDone: true } }, turn)
  }
  const endsAt = performance.now() + TURN_MS
  let outcome = doneOf(queue)
  for (const { event, sequence } of await eventsOf(queue, turn)) {
    const done = { ...outcome, delivered: sequence }
    outcome =
      event === undefined ? done : await attempt({ event, queue, done, before: outcome }, turn)
    const isOver = outcome.failure !== undefined || outcome.parked !== undefined
    if (isOver || performance.now() > endsAt || !(await turn.lease.isHeld(SEND_TIMEOUT_MS))) break
  }
  return outcome
}

function doneOf(queue: WebhookQueue): WebhookOutcome {
  const { delivered } = queue
  return { queue, delivered, isPurgeDone: false, failure: undefined, parked: undefined }
}

async function eventsOf(
  { userId, delivered }: WebhookQueue,
  { ledger, events, hooks }: Turn,
): Promise<readonly { readonly event: Webhook | undefined; readonly sequence: number }[]> {
  const read = await ledger.readUndelivered({ userId, after: delivered, limit: EVENTS_PER_TURN })
  if (read === undefined) return []
  const { changes, latest } = read
  const next = changes[0]?.sequence ?? latest.sequence + 1
  const dropped = next - delivered - 1
  if (dropped > 0) hooks.onDropped(userId, dropped)
  const skipped = dropped > 0 ? [{ event: undefined, sequence: next - 1 }] : []
  return [
    ...skipped,
    ...changes.map((change) => ({
      event: events.has(change.type) ? webhookOf(userId, change) : undefined,
      sequence: change.sequence,
    })),
  ]
}

interface Attempt {
  readonly event: Webhook
  readonly queue: WebhookQueue
  /** What is done if the event is delivered or parked. */
  readonly done: WebhookOutcome
  /** What is done before it. */
  readonly before?: WebhookOutcome
}

async function attempt(
  { event, queue, done, before = doneOf(queue) }: Attempt,
  { sender, events, hooks, times, signal }: Turn,
): Promise<WebhookOutcome> {
  if (!events.has(event.type)) return done
  const delivery = await sender.send(event, signal)
  if (delivery.isDelivered) {
    hooks.onDelivered()
    return done
  }
  const { reason } = delivery
  hooks.onFailed(event, reason)
  const isFirst = before.delivered > queue.delivered || queue.attempts === 0
  const attempts = isFirst ? 1 : queue.attempts + 1
  if (!isFirst && queue.failingForMs >= times.parkAfterMs) {
    hooks.onParked(event, reason)
    return { ...done, parked: { ...event, attempts, reason } }
  }
  return { ...before, failure: { attempts, delayMs: delayOf(attempts, delivery, times) } }
}

/** Doubles up to the longest, give or take a fifth, so that users whose events failed at once do not stay together. */
function delayOf(
  attempts: number,
  { retryAfterMs = 0 }: Extract<Delivery, { isDelivered: false }>,
  { firstRetryMs, maxRetryMs, parkAfterMs }: WebhookTimes,
): number {
  const doubled = Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(attempts - 1, 30))
  const delayMs = Math.round(doubled * (0.8 + 0.4 * Math.random()))
  return Math.max(delayMs, Math.min(retryAfterMs, parkAfterMs))
}
