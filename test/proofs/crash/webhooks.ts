import { setTimeout as delay } from 'node:timers/promises'
import { readFeed } from './feed.ts'
import type { Tally } from './tally.ts'
import type { World } from './world.ts'

interface Body {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/**
 * Delivers what the killed instances have left. Then holds the events that arrived against the feeds: all of each feed
 * and nothing else, each user's in order. A change can arrive again, but none before the one that precedes it.
 */
export async function checkWebhooks(world: World, tally: Tally): Promise<void> {
  if (world.service.webhookDelivery === undefined) return
  await deliverRest(world)
  const bodies = world.webhooks.map(({ body }) => JSON.parse(body) as Body)
  for (const user of world.users) {
    const { userId } = user
    const report = (text: string): void => tally.report('feed', `webhooks of ${userId}: ${text}`)
    const events = bodies.map(({ data }) => data).filter((data) => data['user_id'] === userId)
    const { changes } = await readFeed(world, user)
    const feed = new Map(changes.map((change) => [change.sequence, change]))
    let newest = 0
    for (const { sequence, type, at, version } of events) {
      const change = feed.get(Number(sequence))
      const isSame =
        change?.type === type &&
        new Date(change?.at ?? 0).toISOString() === at &&
        (change !== undefined && 'file' in change ? change.file.version : undefined) === version
      if (!isSame) report(`${String(sequence)} ${String(type)} is not in the feed`)
      if (Number(sequence) > newest + 1) report(`${String(sequence)} came after ${newest}`)
      newest = Math.max(newest, Number(sequence))
    }
    if (newest !== feed.size) report(`${newest} of ${feed.size} changes arrived`)
    tally.deliveredChanges += newest
  }
}

const MOST_MS = 60_000

async function deliverRest({ service }: World): Promise<void> {
  const stop = new AbortController()
  const nothing = (): void => undefined
  const delivery = service.webhookDelivery?.({
    onDelivered: nothing,
    onFailed: nothing,
    onParked: nothing,
    onExpired: nothing,
    onError: nothing,
  })
  const running = delivery?.run(stop.signal)
  const endsAt = Date.now() + MOST_MS
  while ((await service.ledger.measureWebhooks(1)).oldestMs > 0 && Date.now() < endsAt) {
    await delay(100)
  }
  stop.abort()
  await running
}
