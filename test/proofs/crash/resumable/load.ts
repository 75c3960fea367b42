import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../../simulation/plan/random.ts'
import { contentOf, sha256 } from '../content.ts'
import type { Instance } from '../instances.ts'
import type { OpenWrite, Oracle } from '../oracle.ts'
import { isGarbageRefusal, isStatus, json, type Outcome, type Reply } from '../request.ts'
import type { Tally } from '../tally.ts'
import type { WorldUser } from '../world.ts'
import * as client from './client.ts'
import { type Asked, type Ending, Offsets } from './offsets.ts'
import type { PassingTime } from './passing-time.ts'

export interface ResumableLoadOptions {
  readonly instances: readonly Instance[]
  readonly oracle: Oracle
  readonly tally: Tally
  readonly seed: number
  /** Whether the store loses parts when the connection of a completion breaks; see `README.md`. */
  readonly losesParts: boolean
  readonly time: Pick<PassingTime, 'passedMs' | 'begunMs'>
  /** Sends a request to this instance, or to any. */
  readonly send: (
    user: WorldUser,
    request: client.TusRequest & { readonly instance: Instance | undefined },
  ) => Promise<Outcome>
  /** Reports a response that no operation knows. */
  readonly expectNoDefect: (outcome: Outcome) => void
  /** Whether the load is over: what is unfinished is left for the end. */
  readonly isOver: () => boolean
}

export interface ResumableFile {
  readonly user: WorldUser
  readonly name: string
  /** Whether others write to the name at the same time. */
  readonly isContended: boolean
  readonly random: Random
}

/** One upload as its client knows it. */
interface Upload extends ResumableFile {
  readonly path: string
  readonly content: Buffer
  readonly digest: string
  readonly write: OpenWrite
  readonly offsets: Offsets
  readonly isDeferred: boolean
  /** Where the client continues; `undefined` until it has asked. */
  offset: number | undefined
  /** Where the last append went. */
  instance: Instance | undefined
  isOver: boolean
  /** Responses 503 since the last progress. */
  failures: number
}

/** Clients that upload in appends, are interrupted, and go on at any instance. */
export class ResumableLoad {
  readonly #options: ResumableLoadOptions
  readonly #left: Upload[] = []
  #uploads = 0

  constructor(options: ResumableLoadOptions) {
    this.#options = options
  }

  /** One upload, until it has ended, or the load has. */
  async upload(file: ResumableFile): Promise<void> {
    const upload = await this.#create(file)
    if (upload === undefined) return
    if (await this.#goOn(upload, this.#options.isOver)) return
    this.#left.push(upload)
  }

  /** Begins an upload and leaves it to the end of the load with acknowledged bytes. Resolves to its id. */
  async leave(file: ResumableFile): Promise<string> {
    for (;;) {
      const upload = await this.#create(file)
      if (upload === undefined) continue
      const { offsets, content, path } = upload
      while (!upload.isOver && offsets.reported === 0)
        await this.#append(upload, upload.offset ?? 0)
      if (upload.isOver || offsets.reported === content.length) continue
      this.#left.push(upload)
      return idOf(path)
    }
  }

  /** Ends what the end of the load has left unfinished. All instances must be up. */
  async finishLeft(): Promise<void> {
    const startedAt = performance.now()
    for (const upload of this.#left) {
      upload.offset = undefined
      upload.failures = 0
      const isHopeless = (): boolean =>
        upload.failures > MOST_FAILURES || performance.now() - startedAt > MOST_FINISH_MS
      if (await this.#goOn(upload, isHopeless)) continue
      this.#options.tally.report('lost', `${upload.path} can not be finished`)
    }
  }

  /** Whether it ended. */
  async #goOn(upload: Upload, isOver: () => boolean): Promise<boolean> {
    const { random } = upload
    while (!upload.isOver) {
      if (isOver()) return false
      const kind = random.next()
      // One that fails again and again must be found at the end.
      const mayGiveUp = upload.failures === 0 && !this.#options.isOver()
      if (kind < 0.01 && mayGiveUp) await this.#cancel(upload)
      else if (kind < 0.02 && mayGiveUp && !upload.offsets.isAllSent) this.#abandon(upload)
      else if (kind < 0.06) await this.#look(upload)
      else if (upload.offset === undefined || kind < 0.1) await this.#ask(upload)
      else await this.#append(upload, upload.offset)
    }
    return true
  }

  async #create(file: ResumableFile): Promise<Upload | undefined> {
    const { oracle, tally, seed, time } = this.#options
    const { user, name, random } = file
    const size = client.pickContent(random)
    const content = contentOf(`${seed}/tus/${this.#uploads++}`, user.isTight ? size >> 2 : size)
    const { length } = content
    const digest = sha256(content)
    const isDeferred = length > 0 && random.chance(0.2)
    const first = random.chance(0.5) ? Math.min(length, client.pickAppend(random)) : 0
    let path = ''
    const offsets = new Offsets({
      ...file,
      length,
      passedMs: () => time.passedMs,
      begunMs: () => time.begunMs,
      isCompletionCut: () => this.#isCompletionCut(path),
    })
    offsets.sending(first)
    const write = oracle.begin(`${user.userId}/${name}`, [digest])
    const asked = offsets.ask()
    const request = client.creation(name, { content, first, isDeferred, random })
    const outcome = await this.#send(user, request)
    if (isStatus(outcome, 201)) {
      path = String(outcome.headers.location)
      const offset = Number(outcome.headers['upload-offset'] ?? 0)
      const rest = { path, content, digest, write, offsets, isDeferred, offset }
      const upload = { ...file, ...rest, instance: undefined, isOver: false, failures: 0 }
      this.#judge(upload, offset, asked)
      if (!isDeferred && offset === length) this.#finish(upload)
      return upload
    }
    // Time passed while its first bytes were on their way.
    const isExpired = isStatus(outcome, 410) && offsets.mayExpire
    if (isRefusal(outcome)) this.#checkRefusal(user, outcome)
    else if (!isExpired) this.#expectBreak(outcome)
    const isRefused = outcome.kind === 'unsent' || isRefusal(outcome) || isExpired
    if (first === length && !isDeferred && !isRefused) {
      tally.unknownOutcomes += 1
      write.lose(GRACE_MS)
    } else write.refuse()
    return undefined
  }

  async #append(upload: Upload, offset: number): Promise<void> {
    const { content, offsets, random, isDeferred } = upload
    const bytes = content.subarray(offset, offset + client.pickAppend(random))
    const isLast = offset + bytes.length === content.length
    const mishap = bytes.length === 0 ? 1 : random.next()
    const piece: client.Piece = {
      content: bytes,
      offset,
      declares: isDeferred && isLast && (bytes.length === 0 || random.chance(0.8)),
      breaksOffAt: mishap < 0.06 ? random.below(bytes.length) : undefined,
      isWrong: mishap >= 0.06 && mishap < 0.09,
    }
    if (!piece.isWrong) offsets.sending(offset + (piece.breaksOffAt ?? bytes.length))
    const asked = offsets.ask()
    upload.offset = undefined
    if (upload.instance?.isUp !== true || random.chance(0.2)) upload.instance = this.#anyUp(random)
    const request = { ...client.append(upload.path, piece, random), instance: upload.instance }
    const running = this.#send(upload.user, request)
    if (mishap >= 0.09 && mishap < 0.15) {
      // As a client that takes its connection for dead.
      await delay(random.below(150))
      await this.#ask(upload)
    }
    const outcome = await running
    this.#options.tally.appends += 1
    if (!isStatus(outcome, 204)) {
      if (!upload.isOver) await this.#afterFailure(upload, outcome, asked)
      return
    }
    const reached = Number(outcome.headers['upload-offset'])
    this.#judge(upload, reached, asked)
    if (upload.isOver) return
    upload.failures = 0
    if (piece.isWrong) this.#report('altered', upload, 'other bytes than the checksum says count')
    if (reached !== content.length || (isDeferred && !piece.declares)) upload.offset = reached
    else {
      const said = outcome.headers['repr-digest']
      if (said !== client.reprDigest(content)) {
        this.#report('altered', upload, `the response names ${String(said)}`)
      }
      this.#finish(upload)
    }
  }

  async #ask(upload: Upload): Promise<void> {
    const { offsets, path, user, random, content } = upload
    const asked = offsets.ask()
    const head = { method: 'HEAD', path, headers: client.TUS, instance: this.#anyUp(random) }
    const outcome = await this.#send(user, head)
    if (upload.isOver) return
    if (!isStatus(outcome, 200)) return await this.#afterFailure(upload, outcome, asked)
    const { headers } = outcome
    const offset = Number(headers['upload-offset'])
    this.#judge(upload, offset, asked)
    this.#options.tally.heads += 1
    const length = headers['upload-length']
    if (length !== undefined && Number(length) !== content.length) {
      this.#report('altered', upload, `the length is ${String(length)}`)
    }
    upload.offset = offset
    if (length !== undefined && offset === content.length) this.#finish(upload)
  }

  /** Reads the upload without disturbing it. */
  async #look(upload: Upload): Promise<void> {
    const { offsets, path, user } = upload
    const asked = offsets.ask()
    const outcome = await this.#send(user, { method: 'GET', path, instance: undefined })
    if (!isStatus(outcome, 200)) return await this.#afterFailure(upload, outcome, asked)
    if (outcome.body === undefined) return
    this.#judge(upload, Number(json(outcome)['offset']), asked)
    if (json(outcome)['state'] === 'finished') this.#finish(upload)
  }

  async #cancel(upload: Upload): Promise<void> {
    const { user, path, random, offsets } = upload
    offsets.cancelling()
    while (!upload.isOver) {
      const request = { ...client.cancellation(path, random), instance: this.#anyUp(random) }
      const outcome = await this.#send(user, request)
      if (isStatus(outcome, 204)) {
        this.#options.tally.cancelledUploads += 1
        upload.isOver = true
        upload.write.refuse()
      } else if (isEnd(outcome)) this.#end(upload, await this.#endingOf(upload, outcome))
      else {
        this.#expectBreak(outcome)
        await delay(PAUSE_MS)
      }
    }
  }

  /** Leaves it to its expiry. */
  #abandon(upload: Upload): void {
    upload.isOver = true
    upload.write.refuse()
  }

  /** Of a request that did not succeed: the client has to ask before it goes on. */
  async #afterFailure(upload: Upload, outcome: Outcome, asked: Asked): Promise<void> {
    const { user } = upload
    upload.offset = undefined
    upload.instance = undefined
    if (isEnd(outcome)) return this.#end(upload, await this.#endingOf(upload, outcome))
    if (isRefusal(outcome)) {
      this.#checkRefusal(user, outcome)
      return await this.#cancel(upload)
    }
    if (isStatus(outcome, 409)) {
      return this.#judge(upload, Number(outcome.headers['upload-offset']), asked)
    }
    // A wrong checksum.
    if (isStatus(outcome, 460)) return
    this.#expectBreak(outcome)
    if (isStatus(outcome, 503)) upload.failures += 1
    this.#options.tally.interruptions += 1
    await delay(PAUSE_MS)
  }

  #expectBreak(outcome: Outcome): void {
    if (isStatus(outcome, 423)) this.#options.tally.busy += 1
    else this.#options.expectNoDefect(outcome)
  }

  /** A response to HEAD has no body that says how the upload ended. */
  async #endingOf({ user, path }: Upload, outcome: Reply): Promise<Ending> {
    let found: Outcome = outcome
    for (;;) {
      if (isStatus(found, 404)) return 'unknown'
      if (isStatus(found, 410) && found.body !== undefined && found.body.length > 0) {
        return json(found)['outcome'] as Ending
      }
      if (isStatus(found, 200) && found.body !== undefined) {
        if (json(found)['state'] === 'finished') return 'finished'
      }
      await delay(PAUSE_MS)
      found = await this.#send(user, { method: 'GET', path, instance: undefined })
    }
  }

  #end(upload: Upload, ending: Ending): void {
    if (upload.isOver) return
    const { offsets, write } = upload
    const fault = offsets.judgeEnd(ending)
    if (fault !== undefined) this.#report('lost', upload, fault)
    if (ending === 'finished') return this.#finish(upload)
    upload.isOver = true
    if (ending !== 'expired' && offsets.isCompletionCut) this.#options.tally.cutCompletions += 1
    this.#options.tally.ended[ending] = (this.#options.tally.ended[ending] ?? 0) + 1
    if (ending === 'unknown' && offsets.isAllSent) write.lose(0)
    else write.refuse()
  }

  #finish(upload: Upload): void {
    if (upload.isOver) return
    const { tally } = this.#options
    const { user, offsets, path, digest } = upload
    const fault = offsets.judgeEnd('finished')
    if (fault !== undefined) this.#report('altered', upload, fault)
    upload.isOver = true
    upload.write.acknowledge()
    tally.acknowledgedUploads += 1
    tally.acknowledgedContents.push({ userId: user.userId, digest })
    tally.finishedUploads.set(idOf(path), digest)
  }

  #isCompletionCut(path: string): boolean {
    const { instances, losesParts } = this.#options
    return losesParts && instances.some((instance) => instance.isCompleting(idOf(path)))
  }

  #checkRefusal(user: WorldUser, { status, body }: Reply): void {
    const { tally } = this.#options
    tally.refusedUploads += 1
    const text = `${user.userId} has room, and is told ${status} ${String(body)}`
    if (!user.isTight) tally.report('quota', text)
  }

  #judge(upload: Upload, offset: number, asked: Asked): void {
    const fault = upload.offsets.judge(offset, asked)
    this.#options.tally.checkedOffsets += 1
    if (fault !== undefined) this.#report('lost', upload, fault)
  }

  #report(kind: 'lost' | 'altered', { user, name, path }: Upload, fault: string): void {
    this.#options.tally.report(kind, `${user.userId}/${name} (${path}): ${fault}`)
  }

  async #send(
    user: WorldUser,
    request: client.TusRequest & { readonly instance?: Instance | undefined },
  ): Promise<Outcome> {
    this.#options.tally.tusRequests += 1
    return await this.#options.send(user, { instance: undefined, ...request })
  }

  #anyUp(random: Random): Instance | undefined {
    const up = this.#options.instances.filter(({ isUp }) => isUp)
    return up[random.below(up.length)]
  }
}

/** A COMMIT that was on its way to the database when its instance died takes effect within that time. */
const GRACE_MS = 3_000

const PAUSE_MS = 100

const MOST_FAILURES = 10

/** A finish that was killed keeps its claim for 15 s. */
const MOST_FINISH_MS = 120_000

function idOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function isRefusal(outcome: Outcome): outcome is Reply & { readonly status: 403 | 429 } {
  return isStatus(outcome, 403) || isGarbageRefusal(outcome)
}

function isEnd(outcome: Outcome): outcome is Reply & { readonly status: 404 | 410 } {
  return isStatus(outcome, 404) || isStatus(outcome, 410)
}
