import { Agent } from 'node:http'
import type { RecordedChange } from '../../../src/core/changes/change-ledger.ts'
import { parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import { createRandom, type Random } from '../simulation/plan/random.ts'
import { contentOf, sha256, uploadRequest } from './content.ts'
import { readFeed } from './feed.ts'
import type { Instances } from './instances.ts'
import { pathOf } from './names.ts'
import { watchQuotas } from './quotas.ts'
import { isStatus, json, type Outcome, type Request, send } from './request.ts'
import { creation } from './resumable/client.ts'
import { JournalWatch, settle } from './settle.ts'
import { Tally } from './tally.ts'
import type { World, WorldUser } from './world.ts'

/** Uploads of each device in a round. */
const AT_ONCE = 40
const KIB = 2 ** 10
const MIB = 2 ** 20

/** Together well within the account, so that all that is evicted is evicted for a share. */
const DEVICES = [
  { deviceId: 'yard', bytes: 0, share: 3 * MIB, limit: 3 * MIB },
  { deviceId: 'gate', bytes: 2 * MIB, share: 'own', limit: 2 * MIB },
] as const

/** Below which both devices write, and evict. */
const PREFIX = 'cams/'

/** Names to which both devices write. */
const COMMON = 6

/** What all instances need to serve the crowd, whose credentials get a quarter of a limit. */
export const CROWD_SETTINGS = { MAX_UPLOADS: '400', MAX_UNFINISHED_UPLOADS: '4000' } as const

export interface CrowdOptions {
  readonly world: World
  readonly instances: Instances
  readonly seed: number
}

/**
 * Two devices of one account whose shares are full, so that each upload evicts. In each round they send 40 uploads each,
 * at once, and an instance is killed in the middle.
 */
export class DeviceCrowd {
  readonly tally = new Tally()
  evicted = 0
  /** Files of one device that the other one has replaced. */
  taken = 0
  readonly #options: CrowdOptions
  readonly #user: WorldUser
  readonly #random: Random
  readonly #journal: JournalWatch
  readonly #agent = new Agent({ keepAlive: true })
  readonly #over = new AbortController()
  /** Each with its `Cookie` header. */
  readonly #clients: Client[] = []
  readonly #watching: Promise<unknown>

  private constructor(options: CrowdOptions) {
    const { world, seed } = options
    this.#options = options
    this.#user = world.users[0]
    this.#random = createRandom(seed)
    this.#journal = new JournalWatch(world)
    const { signal } = this.#over
    this.#watching = Promise.all([
      watchQuotas(world, this.tally, signal),
      this.#journal.watch(signal),
    ])
  }

  static async open(options: CrowdOptions): Promise<DeviceCrowd> {
    const crowd = new DeviceCrowd(options)
    const { grants, accessTokens } = options.world.service
    const { userId } = crowd.#user
    for (const { deviceId, bytes, share, limit } of DEVICES) {
      await grants.putDevice({ userId, deviceId, bytes, share, model: undefined, label: undefined })
      const { secret } = await accessTokens.issue({
        userId,
        label: deviceId,
        expiresInSeconds: undefined,
        scope: { prefix: parseFileNamePrefix(PREFIX), deviceId, whenFull: 'evict_oldest' },
      })
      crowd.#clients.push({ deviceId, limit, cookie: `access_token=${secret}` })
    }
    return crowd
  }

  /** Resolves when all of the round have been answered, and the instance is up again. */
  async round(): Promise<void> {
    const random = this.#random
    const victim = random.pick(this.#options.instances)
    let beforeKill = random.below(AT_ONCE * this.#clients.length)
    const due = Promise.withResolvers<void>()
    const round = this.tally.kills
    const uploads = this.#clients.flatMap((client) =>
      Array.from({ length: AT_ONCE }, async (_, at) => {
        await this.#upload(client, `${round}-${at}`)
        beforeKill -= 1
        if (beforeKill < 0) due.resolve()
      }),
    )
    await due.promise
    await victim.kill()
    this.tally.kills += 1
    await Promise.all(uploads)
  }

  /** Ends the instances, and holds all that has happened against the shares. */
  async settle(): Promise<number> {
    const { world, instances } = this.#options
    this.#over.abort()
    await this.#watching
    this.#agent.destroy()
    for (const instance of instances) await instance.stop()
    const sweeps = await settle({ world, tally: this.tally, journal: this.#journal })
    const { changes } = await readFeed(world, this.#user)
    this.#replay(changes)
    return sweeps
  }

  async #upload(client: Client, id: string): Promise<void> {
    const random = this.#random
    const { deviceId } = client
    const [folder, file] = random.chance(0.1) ? ['common', random.below(COMMON)] : [deviceId, id]
    const name = `${PREFIX}${folder}/${file}`
    const size = random.chance(0.05) ? 0 : random.below(240 * KIB)
    const content = contentOf(`${deviceId} ${id}`, size)
    const isResumable = random.chance(0.2)
    const request = isResumable
      ? creation(name, { content, first: size, isDeferred: false, random })
      : { ...uploadRequest(content, random), path: pathOf(name, random) }
    const outcome = await this.#ask(client, request)
    this.tally.requests += 1
    if (isAcknowledged(outcome, isResumable ? size : undefined)) {
      this.tally.acknowledgedUploads += 1
      const { userId } = this.#user
      this.tally.acknowledgedContents.push({ userId, digest: sha256(content) })
    } else if (isStatus(outcome, 403)) this.#noteRefusal(client, outcome)
    else if (outcome.kind === 'lost') this.tally.unknownOutcomes += 1
    else if (isStatus(outcome, 503)) this.tally.unavailable += 1
    else if (isStatus(outcome, 423)) this.tally.busy += 1
    else if (outcome.kind === 'reply' && ![201, 429].includes(outcome.status)) {
      this.tally.report('other', `${outcome.status}: ${String(outcome.body)}`)
    }
  }

  async #ask({ cookie }: Client, request: Omit<Request, 'agent' | 'port'>): Promise<Outcome> {
    const { port } = this.#random.pick(this.#options.instances)
    const headers = { ...request.headers, cookie }
    return await send({ ...request, headers, agent: this.#agent, port })
  }

  #noteRefusal({ limit }: Client, outcome: Outcome & { kind: 'reply' }): void {
    this.tally.refusedUploads += 1
    const { code, limit: what, capacity, used } = json(outcome)
    const isTrue = code === 'capacity_exceeded' && what === 'device' && capacity === limit
    if (!isTrue || Number(used) > limit) this.tally.report('quota', String(outcome.body))
  }

  /** Follows the feed: no commit raised a device's use above its share, or evicted what was not its own or not oldest. */
  #replay(changes: readonly RecordedChange[]): void {
    const files = new Map<string, Stored>()
    const usedBy = (deviceId: string): number =>
      [...files.values()].reduce(
        (sum, each) => sum + (each.deviceId === deviceId ? each.size : 0),
        0,
      )
    // No two commits of an account have the same date.
    for (const commit of Map.groupBy(changes, ({ at }) => at).values()) {
      const ofFiles = commit.filter((change) => 'file' in change)
      const written = ofFiles.find(({ type }) => WRITES.has(type))
      for (const { type, file, at } of ofFiles) {
        const { name, size, deviceId } = file
        if (type === 'file.evicted')
          this.#expectEvictable({ files, name, by: written?.file.deviceId })
        else if (!WRITES.has(type)) this.tally.report('feed', `${type} of ${name}`)
        const old = files.get(name)
        files.delete(name)
        if (type === 'file.evicted') continue
        if (old !== undefined && old.deviceId !== deviceId) this.taken += 1
        files.set(name, { deviceId, size, at })
      }
      for (const { deviceId, limit } of DEVICES) {
        const used = usedBy(deviceId)
        if (used > limit) this.tally.report('quota', `${deviceId} had ${used} of ${limit} bytes`)
      }
    }
    for (const { deviceId } of DEVICES) {
      if (usedBy(deviceId) === 0) this.tally.report('lost', `${deviceId} has no file`)
    }
  }

  #expectEvictable({ files, name, by }: Evicted): void {
    this.evicted += 1
    const file = files.get(name)
    if (file?.deviceId !== by) this.tally.report('lost', `${name} was evicted for ${by}`)
    // One that another upload replaces is spared.
    const others = [...files].filter(([each, { deviceId }]) => deviceId === by && !isCommon(each))
    const oldest = Math.min(...others.map(([, { at }]) => at))
    if ((file?.at ?? 0) > oldest) this.tally.report('lost', `${name} was evicted before older ones`)
  }
}

interface Client {
  readonly deviceId: string
  /** Of its share, in bytes. */
  readonly limit: number
  readonly cookie: string
}

interface Stored {
  readonly deviceId: string | null
  readonly size: number
  readonly at: number
}

interface Evicted {
  readonly files: ReadonlyMap<string, Stored>
  readonly name: string
  /** The device that it made room for. */
  readonly by: string | null | undefined
}

/** `length`: of a resumable upload, which is a file once it has so many bytes. */
function isAcknowledged(outcome: Outcome, length: number | undefined): boolean {
  if (length === undefined) return isStatus(outcome, 200)
  return isStatus(outcome, 201) && outcome.headers['upload-offset'] === String(length)
}

const WRITES: ReadonlySet<string> = new Set(['file.created', 'file.replaced'])

function isCommon(name: string): boolean {
  return name.startsWith(`${PREFIX}common/`)
}
