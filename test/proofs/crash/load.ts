import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { isAppError } from '../../../src/core/errors.ts'
import { createRandom, type Random } from '../simulation/plan/random.ts'
import { contentIn, contentOf, pickSize, sha256, uploadRequest } from './content.ts'
import { Folders } from './folders.ts'
import type { Instance } from './instances.ts'
import { isMarker, pathOf, pickFileName, pickName, pickPair } from './names.ts'
import { ResumableLoad } from './resumable/load.ts'
import type { PassingTime } from './resumable/passing-time.ts'
import { ABSENT, type Content, type Oracle, type OpenWrite } from './oracle.ts'
import {
  isGarbageRefusal,
  isStatus,
  json,
  type Outcome,
  type Reply,
  type Request,
  send,
  TIMED_OUT,
} from './request.ts'
import type { Tally } from './tally.ts'
import type { World, WorldUser } from './world.ts'

export interface LoadOptions {
  readonly world: World
  readonly instances: readonly Instance[]
  readonly oracle: Oracle
  readonly tally: Tally
  readonly time: PassingTime
  readonly seed: number
  /** Aborts when an instance that should be up will not be. */
  readonly signal: AbortSignal
  /** Called when an instance was sent the last byte of an upload. */
  readonly onLastByte: (instance: Instance) => void
}

const WORKERS_PER_USER = 3

/** A COMMIT that was on its way to the database when its instance died takes effect within that time. */
const GRACE_MS = 3_000

const RETRY_MS = 100

const BETWEEN_LEAPS_MS = 30_000

/** Clients that do everything at once, and hold all they see against the oracle. */
export class Load {
  readonly #options: LoadOptions
  readonly #agent = new Agent({ keepAlive: true })
  readonly #resumable: ResumableLoad
  readonly #folders: Folders
  #uploads = 0
  #isOver = false

  constructor(options: LoadOptions) {
    this.#options = options
    this.#resumable = new ResumableLoad({
      ...options,
      losesParts: options.world.config.objectStore.kind === 's3',
      send: (user, request) => this.#send(user, request),
      expectNoDefect: (outcome) => this.#expectNoDefect(outcome),
      isOver: () => this.#isOver,
    })
    this.#folders = new Folders({
      ...options,
      send: (user, request) => this.#send(user, request),
      settle: (write, outcome) => this.#settle(write, outcome),
      graceMs: GRACE_MS,
    })
  }

  /** Works until `finish` is called; then resolves when all that was begun is over. */
  async run(): Promise<void> {
    const { world, seed } = this.#options
    const workers = world.users.flatMap((user, at) =>
      Array.from({ length: WORKERS_PER_USER }, (_, n) => {
        const random = createRandom(seed + 100 * at + n)
        return this.#work({ user, random, folder: `own-${n}/` })
      }),
    )
    await Promise.all([...workers, this.#sweep(), this.#passTime()])
  }

  finish(): void {
    this.#isOver = true
  }

  /** Leaves some resumable uploads unfinished, with acknowledged bytes; resolves to their ids. */
  async leaveUnfinished(count: number): Promise<readonly string[]> {
    const { world, seed } = this.#options
    const [, user = world.users[0]] = world.users
    const random = createRandom(seed)
    const ids: string[] = []
    for (let n = 0; n < count; n++) {
      const name = `left/${n}`
      ids.push(await this.#resumable.leave({ user, name, random, isContended: false }))
    }
    return ids
  }

  /** Ends what is unfinished and reads every file that was ever written, with all instances up. */
  async readAll(): Promise<void> {
    await this.#resumable.finishLeft()
    const { oracle, tally, world } = this.#options
    for (const file of oracle.files()) {
      const { userId, name } = partsOf(file)
      const user = world.users.find((user) => user.userId === userId) ?? world.users[0]
      const { outcome } = await this.#read(user, name)
      const status = outcome.kind === 'reply' ? outcome.status : 0
      if (status !== 200 && status !== 404)
        tally.report('lost', `${file} is answered with ${status}`)
    }
    this.#agent.destroy()
  }

  /** Downloads that go to one instance, which has just started again. */
  async probe(instance: Instance, random: Random): Promise<void> {
    const { world, oracle } = this.#options
    const files = oracle.files()
    for (let reads = 0; reads < 3 && files.length > 0; reads++) {
      const { userId, name } = partsOf(files[random.below(files.length)] ?? '')
      const user = world.users.find((user) => user.userId === userId)
      if (user !== undefined) await this.#read(user, name, instance)
    }
  }

  async #work(worker: Worker): Promise<void> {
    const { random } = worker
    while (!this.#isOver) {
      const kind = random.next()
      if (kind < 0.3) await this.#upload(worker)
      else if (kind < 0.45) await this.#resumable.upload(fileOfWorker(worker))
      else if (kind < 0.51) await this.#remove(worker)
      else if (kind < 0.56) await this.#rename(worker)
      else if (kind < 0.62) await this.#restore(worker)
      else if (kind < 0.66) await this.#folders.move(worker)
      else if (kind < 0.68) await this.#folders.clear(worker)
      else if (kind < 0.83) await this.#read(worker.user, nameOf(worker))
      else if (kind < 0.92) await this.#readRange(worker)
      else if (kind < 0.97) await this.#list(worker.user)
      else await this.#capacity(worker.user)
    }
  }

  /** Beside those of the instances, as the command line's would be. */
  async #sweep(): Promise<void> {
    const { world } = this.#options
    while (!this.#isOver) {
      await world.service.sweeper
        .sweep({ signal: AbortSignal.timeout(60_000) })
        .catch((error: unknown) => this.#expectBusy(error, 'a sweep'))
      await delay(1_000)
    }
  }

  /** On a busy machine the database may miss its deadline; the next sweep does what this one left. */
  #expectBusy(error: unknown, work: string): void {
    const { tally } = this.#options
    if (isAppError(error, 'unavailable')) tally.unavailable += 1
    else tally.report('other', `${work} failed: ${String(error)}`)
  }

  async #passTime(): Promise<void> {
    while (!this.#isOver) {
      await delay(BETWEEN_LEAPS_MS)
      await this.#options.time.leap().catch((error: unknown) => this.#expectBusy(error, 'a leap'))
    }
  }

  async #upload(worker: Worker): Promise<void> {
    const { oracle, tally, seed } = this.#options
    const { user, random } = worker
    const name = nameOf(worker)
    const size = isMarker(name) ? 0 : pickSize(random)
    const content = contentOf(`${seed}/${this.#uploads++}`, size)
    const digest = sha256(content)
    const write = oracle.begin(fileOf(user, name), [digest])
    const outcome = await this.#send(user, {
      ...uploadRequest(content, random),
      path: pathOf(name, random),
    })
    const isFull = isStatus(outcome, 403) && codeOf(outcome) === 'capacity_exceeded'
    if (isFull || isGarbageRefusal(outcome)) {
      tally.refusedUploads += 1
      if (!user.isTight) tally.report('quota', `${user.userId} has room, and is told otherwise`)
      write.refuse()
    } else if (isStatus(outcome, 200)) {
      const said = outcome.body === undefined ? digest : json(outcome)['sha256']
      if (said !== digest) tally.report('altered', `${name}: the answer names other bytes`)
      tally.acknowledgedUploads += 1
      tally.acknowledgedContents.push({ userId: user.userId, digest })
      write.acknowledge()
    } else this.#settle(write, outcome)
  }

  async #remove(worker: Worker): Promise<void> {
    const { oracle } = this.#options
    const { user, random } = worker
    const name = nameOf(worker)
    const startedAt = performance.now()
    const write = oracle.begin(fileOf(user, name), [ABSENT])
    const outcome = await this.#send(user, { method: 'DELETE', path: pathOf(name, random) })
    if (isStatus(outcome, 204)) write.acknowledge()
    else if (isStatus(outcome, 404)) {
      write.refuse()
      this.#judge({ file: fileOf(user, name), content: ABSENT, startedAt })
    } else this.#settle(write, outcome)
  }

  /** One of the versions that a file had, chosen by what the history lists. */
  async #restore(worker: Worker): Promise<void> {
    const { oracle, tally } = this.#options
    const { user, random } = worker
    const picked = nameOf(worker)
    const isOwn = picked.startsWith(worker.folder)
    const of = isOwn ? `prefix=${worker.folder}` : `name=${encodeURIComponent(picked)}`
    const list = { method: 'GET', path: `/users/me/history?${of}&limit=5` }
    const listed = await this.#send(user, list)
    if (!isStatus(listed, 200) || listed.body === undefined) return this.#expectNoDefect(listed)
    const { versions } = json(listed) as { readonly versions: readonly Listed[] }
    const chosen = versions[random.below(versions.length)]
    if (chosen === undefined) return
    const { version, sha256, name } = chosen
    const write = oracle.begin(fileOf(user, name), [sha256])
    const body = Buffer.from(JSON.stringify({ overwrite: true }))
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
    const path = `/users/me/history/${version}/restore`
    const outcome = await this.#send(user, { method: 'POST', path, headers, body: [body] })
    const isFull = isStatus(outcome, 403) && codeOf(outcome) === 'capacity_exceeded'
    if (isFull && !user.isTight) tally.report('quota', `${user.userId} has room for a restore`)
    // Another one has restored it, or a sweep has dropped it.
    const isGone = isStatus(outcome, 404) || isStatus(outcome, 410)
    if (isFull || isGone || isGarbageRefusal(outcome)) write.refuse()
    else if (isStatus(outcome, 200)) {
      tally.restores += 1
      write.acknowledge()
    } else this.#settle(write, outcome)
  }

  /** Between two names of which nobody else writes to either, so that both sides can be told. */
  async #rename(worker: Worker): Promise<void> {
    const { oracle } = this.#options
    const { user, random, folder } = worker
    const [from, to] = pickPair(folder, random)
    const startedAt = performance.now()
    const before = {
      from: oracle.allowed(fileOf(user, from), startedAt),
      to: oracle.allowed(fileOf(user, to), startedAt),
    }
    const movable = [...before.from].filter((content) => content !== ABSENT)
    const left = oracle.begin(fileOf(user, from), [ABSENT])
    const arrived = oracle.begin(fileOf(user, to), movable)
    const body = Buffer.from(JSON.stringify({ name: to, overwrite: true }))
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
    const request = { method: 'PATCH', path: pathOf(from, random), headers, body: [body] }
    const outcome = await this.#send(user, request)
    if (isStatus(outcome, 200)) {
      const moved = outcome.body === undefined ? undefined : String(json(outcome)['sha256'])
      if (moved !== undefined) this.#judge({ file: fileOf(user, from), content: moved, startedAt })
      left.acknowledge()
      arrived.acknowledge(moved)
    } else if (isStatus(outcome, 404)) {
      left.refuse()
      arrived.refuse()
      this.#judge({ file: fileOf(user, from), content: ABSENT, startedAt })
    } else {
      this.#settle(left, outcome)
      this.#settle(arrived, outcome)
      if (outcome.kind === 'lost') await this.#seeBothSides(user, { from, to, before })
    }
  }

  /** A rename happens on both sides or on none. */
  async #seeBothSides(user: WorldUser, rename: Rename): Promise<void> {
    const { tally } = this.#options
    await delay(GRACE_MS)
    const from = await this.#readSurely(user, rename.from)
    const to = await this.#readSurely(user, rename.to)
    const { before } = rename
    const isUndone = before.from.has(from) && before.to.has(to)
    const isDone = from === ABSENT && to !== ABSENT && before.from.has(to)
    if (isUndone || isDone) return
    tally.report('lost', `${fileOf(user, rename.from)} was renamed by half to ${rename.to}`)
  }

  async #readSurely(user: WorldUser, name: string): Promise<Content> {
    for (;;) {
      const { content } = await this.#read(user, name)
      if (content !== undefined) return content
      await delay(50)
    }
  }

  async #read(user: WorldUser, name: string, instance?: Instance) {
    const startedAt = performance.now()
    const outcome = await this.#send(user, { method: 'GET', path: pathOf(name), instance })
    const content = contentIn(outcome)
    if (content !== undefined) this.#judge({ file: fileOf(user, name), content, startedAt })
    else this.#expectNoDefect(outcome)
    return { outcome, content }
  }

  /** The ETag of an answer is its version, so a part and the whole of one version can be held against each other. */
  async #readRange(worker: Worker): Promise<void> {
    const { tally } = this.#options
    const { user, random } = worker
    const name = nameOf(worker)
    const whole = await this.#read(user, name)
    if (!isStatus(whole.outcome, 200) || whole.outcome.body === undefined) return
    const { body } = whole.outcome
    if (body.length === 0) return
    const first = random.below(body.length)
    const last = first + random.below(body.length - first)
    const headers = {
      range: `bytes=${first}-${last}`,
      'if-range': String(whole.outcome.headers.etag),
    }
    const outcome = await this.#send(user, { method: 'GET', path: pathOf(name), headers })
    if (!isStatus(outcome, 206) || outcome.body === undefined) return this.#expectNoDefect(outcome)
    tally.checkedReads += 1
    if (outcome.body.equals(body.subarray(first, last + 1))) return
    tally.report('altered', `${fileOf(user, name)}: bytes ${first} to ${last} are others`)
  }

  async #list(user: WorldUser): Promise<void> {
    const startedAt = performance.now()
    const path = '/users/me/repo?limit=1000'
    const known = this.#options.oracle.files().filter((file) => file.startsWith(`${user.userId}/`))
    const outcome = await this.#send(user, { method: 'GET', path })
    if (!isStatus(outcome, 200) || outcome.body === undefined) return this.#expectNoDefect(outcome)
    const { files } = json(outcome) as { readonly files: readonly Listed[] }
    const found = new Map(files.map(({ name, sha256 }) => [`${user.userId}/${name}`, sha256]))
    for (const file of known) {
      this.#judge({ file, content: found.get(file) ?? ABSENT, startedAt })
    }
  }

  async #capacity(user: WorldUser): Promise<void> {
    const outcome = await this.#send(user, { method: 'GET', path: '/users/me/capacity' })
    if (!isStatus(outcome, 200) || outcome.body === undefined) return this.#expectNoDefect(outcome)
    const { capacity, used } = json(outcome) as { readonly capacity: number; readonly used: number }
    if (used <= capacity && used >= 0) return
    this.#options.tally.report('quota', `${user.userId} uses ${used} of ${capacity} bytes`)
  }

  async #send(
    user: WorldUser,
    request: Omit<Request, 'agent' | 'port'> & { readonly instance?: Instance | undefined },
  ): Promise<Outcome> {
    const { tally, onLastByte } = this.#options
    const instance = request.instance ?? (await this.#someInstance())
    const { method, headers = {} } = request
    const isUpload = method === 'POST' || method === 'PUT' || 'upload-offset' in headers
    const outcome = await send({
      ...request,
      agent: this.#agent,
      port: instance.port,
      headers: { cookie: user.cookie, ...headers },
      ...(isUpload && { onLastByte: () => onLastByte(instance) }),
    })
    if (outcome.kind === 'unsent') await delay(10)
    else tally.requests += 1
    if (isStatus(outcome, 503)) await delay(RETRY_MS)
    return outcome
  }

  async #someInstance(): Promise<Instance> {
    const { instances, signal } = this.#options
    for (;;) {
      signal.throwIfAborted()
      const up = instances.filter(({ isUp }) => isUp)
      const one = up[this.#uploads % up.length] ?? up[0]
      if (one !== undefined) return one
      await delay(5)
    }
  }

  /** What is neither the success nor the refusal that its operation knows. */
  #settle(write: OpenWrite, outcome: Outcome): void {
    if (outcome.kind === 'unsent') return write.refuse()
    this.#options.tally.unknownOutcomes += 1
    this.#expectNoDefect(outcome)
    write.lose(GRACE_MS)
  }

  #expectNoDefect(outcome: Outcome): void {
    const { tally } = this.#options
    if (outcome.kind === 'lost' && outcome.reason === TIMED_OUT) tally.report('other', TIMED_OUT)
    if (outcome.kind !== 'reply' || EXPECTED.has(outcome.status)) return
    if (outcome.status === 503) tally.unavailable += 1
    else tally.report('other', `${outcome.status}: ${outcome.body?.toString().slice(0, 300)}`)
  }

  #judge(read: { readonly file: string; readonly content: Content; readonly startedAt: number }) {
    const { oracle, tally } = this.#options
    tally.checkedReads += 1
    const fault = oracle.judge(read)
    if (fault !== undefined) tally.report(read.content === ABSENT ? 'lost' : 'altered', fault)
  }
}

interface Worker {
  readonly user: WorldUser
  readonly random: Random
  /** Of the files that are its own. */
  readonly folder: string
}

interface Rename {
  readonly from: string
  readonly to: string
  readonly before: { readonly from: ReadonlySet<Content>; readonly to: ReadonlySet<Content> }
}

interface Listed {
  readonly name: string
  readonly version: string
  readonly sha256: string
}

/** Of reads, whose connection may break after the head. */
const EXPECTED: ReadonlySet<number> = new Set([200, 206, 404])

function fileOfWorker(worker: Worker) {
  const name = pickFileName(worker.folder, worker.random)
  return { ...worker, name, isContended: !name.startsWith(worker.folder) }
}

function nameOf({ random, folder }: Worker): string {
  return pickName(folder, random)
}

function fileOf({ userId }: WorldUser, name: string): string {
  return `${userId}/${name}`
}

/** As `fileOf` made it. */
function partsOf(file: string) {
  const at = file.indexOf('/')
  return { userId: file.slice(0, at), name: file.slice(at + 1) }
}

function codeOf(reply: Reply): unknown {
  return reply.body === undefined ? 'capacity_exceeded' : json(reply)['code']
}
