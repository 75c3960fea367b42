import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { RecordedChange } from '../../../src/core/changes/change-ledger.ts'
import { createRandom, type Random } from '../simulation/plan/random.ts'
import { contentOf, sha256, uploadRequest } from './content.ts'
import { readFeed } from './feed.ts'
import type { Instance } from './instances.ts'
import { watchQuotas } from './quotas.ts'
import { pathOf } from './names.ts'
import { isStatus, json, type Outcome, type Request, send } from './request.ts'
import { JournalWatch, settle } from './settle.ts'
import { Tally } from './tally.ts'
import type { World } from './world.ts'

const WRITERS = 40
const READERS = 4
export const MOST_KEPT = 12
export const LEAST_EVICTED = 100
const KIB = 2 ** 10

/** A file and its change have each read the clock, on a busy machine. */
const CLOCK_MS = 1_000

/** Of files that may be evicted. Others of the account have other names. */
const PREFIX = 'cam \u00fc/'

/** Clients that write to one full account with `?evict=`, others that read, and what they were told. */
export class Crowd {
  readonly tally = new Tally()
  readonly kept = new Set<string>()
  evicted = 0
  readonly #world: World
  readonly #instances: readonly Instance[]
  readonly #journal: JournalWatch
  readonly #over = new AbortController()
  readonly #agent = new Agent({ keepAlive: true })
  /** Sizes, by name. */
  readonly #acknowledged = new Map<string, number>()
  readonly #unknown = new Map<string, number>()
  readonly #gone = new Set<string>()
  #largerThanEvictable = 0

  constructor(world: World, instances: readonly Instance[]) {
    this.#world = world
    this.#instances = instances
    this.#journal = new JournalWatch(world)
  }

  /** Works for so long, and on a slow machine until enough was evicted. */
  async work(runMs: number): Promise<void> {
    const { signal } = this.#over
    const watching = [
      watchQuotas(this.#world, this.tally, signal),
      this.#journal.watch(signal),
      this.#watchCapacity(),
    ]
    const clients = [
      ...Array.from({ length: WRITERS }, (_, at) => this.#write(at)),
      ...Array.from({ length: READERS }, (_, at) => this.#read(createRandom(at))),
      this.#keep(),
      this.#askForTooMuch(),
    ]
    await this.#kill(runMs)
    this.#over.abort()
    await Promise.all([...clients, ...watching])
    await this.#expectEvictable()
    this.#agent.destroy()
  }

  async settle(): Promise<void> {
    for (const instance of this.#instances) await instance.stop()
    await settle({ world: this.#world, tally: this.tally, journal: this.#journal })
    const { changes } = await readFeed(this.#world, this.#user)
    this.#replay(changes)
  }

  summary(): string {
    const { kills, unavailable, refusedUploads, checkedReads } = this.tally
    const unknown = this.#unknown.size
    const counts = { kills, evicted: this.evicted, refusedUploads, unavailable, unknown }
    const reads = { checkedReads, found: checkedReads - this.#gone.size, gone: this.#gone.size }
    const acknowledged = this.#acknowledged.size
    return JSON.stringify({
      acknowledged,
      ...counts,
      ...reads,
      tooLarge: this.#largerThanEvictable,
    })
  }

  get #user() {
    return this.#world.users[0]
  }

  get #capacity(): number {
    return this.#world.config.baseCapacity
  }

  async #ask(request: Omit<Request, 'agent' | 'port'>, random: Random): Promise<Outcome> {
    const instance = this.#instances[random.below(this.#instances.length)] as Instance
    const headers = { ...request.headers, cookie: this.#user.cookie }
    const outcome = await send({ ...request, headers, agent: this.#agent, port: instance.port })
    this.tally.requests += 1
    if (outcome.kind !== 'reply') await delay(50)
    else if (outcome.status >= 500) {
      this.tally.unavailable += 1
      if (outcome.status !== 503) this.tally.report('other', String(outcome.body))
      await delay(100)
    }
    return outcome
  }

  async #write(at: number): Promise<void> {
    const random = createRandom(1000 + at)
    for (let turn = 0; !this.#over.signal.aborted; turn++) {
      const name = `${PREFIX}${at}/${turn}`
      const size = random.chance(0.05) ? 0 : random.below(240 * KIB)
      const content = contentOf(name, size)
      const request = uploadRequest(content, random)
      const path = `${pathOf(name, random)}?evict=${encodeURIComponent(PREFIX)}`
      const outcome = await this.#ask({ ...request, path }, random)
      if (isStatus(outcome, 200)) this.#acknowledge(name, { content, outcome })
      else if (isStatus(outcome, 403)) this.#refuse(outcome)
      else if (isStatus(outcome, 429)) await delay(100)
      else if (outcome.kind !== 'unsent') this.#unknown.set(name, size)
    }
  }

  #acknowledge(
    name: string,
    {
      content,
      outcome,
    }: { readonly content: Buffer; readonly outcome: Outcome & { kind: 'reply' } },
  ): void {
    // The status alone acknowledges the file.
    this.#acknowledged.set(name, content.length)
    this.tally.acknowledgedUploads += 1
    const { userId } = this.#user
    this.tally.acknowledgedContents.push({ userId, digest: sha256(content) })
    if (outcome.body === undefined) return
    const { evicted } = json(outcome) as { readonly evicted?: { readonly files: number } }
    this.evicted += evicted?.files ?? 0
  }

  #refuse(outcome: Outcome & { kind: 'reply' }): number {
    const { code, evictable } = json(outcome)
    this.tally.refusedUploads += 1
    if (code !== 'capacity_exceeded') this.tally.report('other', String(outcome.body))
    return Number(evictable)
  }

  async #read(random: Random): Promise<void> {
    while (!this.#over.signal.aborted) {
      const names = [...this.#acknowledged.keys()].slice(-500)
      const name = names[random.below(Math.max(1, names.length))]
      if (name === undefined) {
        await delay(20)
        continue
      }
      const isKept = this.kept.has(name)
      const wasGone = this.#gone.has(name)
      const outcome = await this.#ask({ method: 'GET', path: pathOf(name, random) }, random)
      const size = this.#acknowledged.get(name) ?? 0
      if (isStatus(outcome, 200) && outcome.body !== undefined) {
        this.tally.checkedReads += 1
        const isWhole = outcome.body.equals(contentOf(name, size))
        if (!isWhole) this.tally.report('altered', `${name} has other bytes`)
        if (wasGone) this.tally.report('altered', `${name} was gone and is back`)
      } else if (isStatus(outcome, 404)) {
        this.tally.checkedReads += 1
        this.#gone.add(name)
        if (isKept) this.tally.report('lost', `${name} was kept and is gone`)
      }
    }
  }

  async #keep(): Promise<void> {
    const random = createRandom(7)
    while (this.kept.size < MOST_KEPT && !this.#over.signal.aborted) {
      await delay(100)
      const name = [...this.#acknowledged.keys()].at(-1)
      if (name === undefined || this.kept.has(name)) continue
      const body = [Buffer.from('{"keep": true}')]
      const headers = { 'content-type': 'application/json' }
      const path = pathOf(name)
      const outcome = await this.#ask({ method: 'PATCH', path, headers, body }, random)
      if (isStatus(outcome, 200)) this.kept.add(name)
    }
  }

  /** Asks for a little more than the account has. */
  async #askForTooMuch(): Promise<void> {
    const random = createRandom(8)
    while (!this.#over.signal.aborted) {
      await delay(300)
      await this.#tooMuch(random)
    }
  }

  async #tooMuch(random: Random): Promise<number | undefined> {
    const headers = { 'content-length': String(this.#capacity + 1), expect: '100-continue' }
    const path = `/users/me/repo/large?evict=${encodeURIComponent(PREFIX)}`
    const outcome = await this.#ask(
      { method: 'PUT', path, headers, breaksOff: true, pauseMs: 5_000 },
      random,
    )
    if (isStatus(outcome, 403)) {
      this.#largerThanEvictable += 1
      return this.#refuse(outcome)
    }
    if (isStatus(outcome, 200)) this.tally.report('quota', 'more than the account has was taken')
    return undefined
  }

  /** When nothing changes any more, what may be evicted is what is not kept. */
  async #expectEvictable(): Promise<void> {
    const { bytes } = await this.#world.database.query((kysely) =>
      kysely
        .selectFrom('files')
        .select((of) => of.fn.sum<number | string>('size').as('bytes'))
        .where('user_id', '=', this.#user.userId)
        .where('is_kept', '=', 0)
        .executeTakeFirstOrThrow(),
    )
    const random = createRandom(9)
    let found: number | undefined
    for (let attempt = 0; attempt < 100 && found !== Number(bytes); attempt++) {
      found = await this.#tooMuch(random)
      await delay(100)
    }
    if (found !== Number(bytes)) this.tally.report('quota', `${found} evictable, not ${bytes}`)
  }

  /** No byte over, at any moment, neither of files nor of reservations. */
  async #watchCapacity(): Promise<void> {
    while (!this.#over.signal.aborted) {
      const quota = await this.#world.database.query((kysely) =>
        kysely
          .selectFrom('quotas')
          .select(['used_bytes', 'reserved_bytes'])
          .where('user_id', '=', this.#user.userId)
          .executeTakeFirstOrThrow(),
      )
      if (Math.max(quota.used_bytes, quota.reserved_bytes) > this.#capacity)
        this.tally.report('quota', JSON.stringify(quota))
      await delay(20)
    }
  }

  async #kill(runMs: number): Promise<void> {
    const random = createRandom(10)
    const end = performance.now() + runMs
    const last = end + 600_000
    while (performance.now() < (this.evicted > LEAST_EVICTED ? end : last)) {
      await delay(1_500 + random.below(2_000))
      const instance = this.#instances[random.below(this.#instances.length)] as Instance
      await instance.kill()
      this.tally.kills += 1
    }
  }

  /** Follows the feed: each evicted file was the oldest one, unless it was kept, and only room was made. */
  #replay(changes: readonly RecordedChange[]): void {
    const live = new Map<string, { readonly at: number; readonly size: number }>()
    const kept = new Set<string>()
    const evicted = new Set<string>()
    let used = 0
    for (const change of changes) {
      if (!('file' in change)) continue
      const { type, at, file } = change
      const { name, size } = file
      if (type === 'file.created') {
        live.set(name, { at, size })
        used += size
        if (used > this.#capacity) this.tally.report('quota', `${used} bytes after ${name}`)
        this.#expectWritten(name, file.sha256)
      } else if (type === 'file.updated') {
        kept.add(name)
      } else if (type === 'file.evicted') {
        const [oldest] = [...live].filter(([each]) => !kept.has(each)).sort(byAge)
        const age = live.get(name)?.at ?? Number.POSITIVE_INFINITY
        if (age > (oldest?.[1].at ?? 0) + CLOCK_MS)
          this.tally.report(
            'lost',
            `${name} of ${live.get(name)?.at} was evicted before ${oldest?.[0]} of ${oldest?.[1].at}`,
          )
        live.delete(name)
        evicted.add(name)
        used -= size
      } else {
        this.tally.report('feed', `${type} of ${name}`)
      }
    }
    for (const name of this.#acknowledged.keys()) {
      if (live.has(name) === evicted.has(name)) this.tally.report('lost', name)
    }
    for (const name of this.kept) {
      if (!live.has(name)) this.tally.report('lost', `${name} was kept`)
    }
    for (const name of this.#gone) {
      if (!evicted.has(name)) this.tally.report('lost', `${name} was not evicted, but gone`)
    }
  }

  #expectWritten(name: string, digest: string): void {
    const size = this.#acknowledged.get(name) ?? this.#unknown.get(name)
    if (size === undefined) this.tally.report('altered', `${name} was refused, and is there`)
    else if (sha256(contentOf(name, size)) !== digest)
      this.tally.report('altered', `${name} is of other bytes`)
  }
}

type Aged = readonly [string, { readonly at: number }]

function byAge([name, { at }]: Aged, [other, { at: otherAt }]: Aged): number {
  return at - otherAt || (name < other ? -1 : 1)
}
