import { setTimeout as delay } from 'node:timers/promises'
import { callerOf } from '../../../src/core/users/caller.ts'
import type { ObjectKey } from '../../../src/core/objects/object-key.ts'
import type { File } from '../../../src/core/files/file.ts'
import { sha256 } from './content.ts'
import { checkFeed, type SettledUser } from './feed.ts'
import type { Tally } from './tally.ts'
import type { World, WorldUser } from './world.ts'
import { MINUTE_MS, passTime } from './resumable/passing-time.ts'
import { checkWebhooks } from './webhooks.ts'
import { readUsage } from '../../support/read-usage.ts'
import { authorized } from '../../support/caller.ts'

/** Collects the keys of all uploads that did not succeed, while the journal still has them. */
export class JournalWatch {
  readonly keys = new Set<ObjectKey>()
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  async look(): Promise<void> {
    const { kysely } = this.#world.database
    const unsettled = kysely.selectFrom('uploads').select('object_key')
    const rows = await unsettled.where('state', '<>', 'committed').execute()
    for (const { object_key } of rows) this.keys.add(object_key)
  }

  /** Looks again and again until the signal aborts; more often than rows are forgotten. */
  async watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.look()
      await delay(this.#world.times.retentionMs / 6)
    }
  }
}

/**
 * Waits until all leases, delays and retentions are over, sweeps twice, and holds what is left against I3, I4, I5, I8
 * and I14. Nothing else may use the service any more. Returns the sweeps it took, which are two unless one had to leave
 * its work to a sweeper that was killed and is still counted on.
 */
export async function settle(options: {
  readonly world: World
  readonly tally: Tally
  readonly journal: JournalWatch
  /** After which what is left counts as left for good; as many as a killed sweeper's lease lasts when left out. */
  readonly mostSweeps?: number | undefined
}): Promise<number> {
  const { world, tally, journal, mostSweeps = MOST_SWEEPS } = options
  const { leaseMs, garbageDelayMs, retentionMs } = world.times
  // Longer than an upload lives without progress, and then longer than the tails of one that has ended are kept.
  await Promise.all([delay(leaseMs + garbageDelayMs), passTime(world.database, 150 * MINUTE_MS)])
  await sweep(world)
  await delay(Math.max(garbageDelayMs, retentionMs))
  await passTime(world.database, 20 * MINUTE_MS)
  await sweep(world)
  let sweeps = 2
  while (sweeps < mostSweeps && (await leftovers(world, journal)).length > 0) {
    await delay(BETWEEN_SWEEPS_MS)
    await sweep(world)
    sweeps += 1
  }
  for (const text of await leftovers(world, journal)) tally.report('orphan', text)
  for (const user of world.users) {
    const files = await filesOf(world, user)
    await checkQuota(world, { user, files, tally })
    await checkFeed(world, { user, files, tally })
  }
  await checkWebhooks(world, tally)
  await checkVersions(world, tally)
  await world.service.verifier.verify({
    userId: undefined,
    repair: false,
    readOneIn: 1,
    onFinding: ({ kind, ...facts }) => {
      tally.report(SEVERITY[kind] ?? 'quota', `verify: ${kind} ${JSON.stringify(facts)}`)
    },
    signal: AbortSignal.timeout(300_000),
  })
  return sweeps
}

const MOST_SWEEPS = 6
const BETWEEN_SWEEPS_MS = 5_000

const SEVERITY: Readonly<Record<string, 'lost' | 'altered' | 'orphan'>> = {
  missing_object: 'lost',
  wrong_size: 'altered',
  wrong_digest: 'altered',
  unreadable_object: 'lost',
  orphaned_object: 'orphan',
  foreign_object: 'orphan',
}

async function sweep({ service }: World): Promise<void> {
  const signal = AbortSignal.timeout(120_000)
  // A process that was killed in a sweep keeps it for as long as its lease runs.
  await service.sweeper.sweep({ signal, onWait: () => undefined })
}

/** What should be gone: objects and parts of objects that no file or past version refers to, and rows of uploads (I8). */
async function leftovers(world: World, journal: JournalWatch): Promise<readonly string[]> {
  const { service, database, users } = world
  const { kysely } = database
  const files = (await Promise.all(users.map((user) => filesOf(world, user)))).flat()
  const past = await kysely.selectFrom('history').select('object_key').execute()
  const referenced = new Set([
    ...files.map(({ objectKey }) => objectKey),
    ...past.map((row) => row.object_key),
  ])
  const left: string[] = []
  const signal = AbortSignal.timeout(120_000)
  for await (const { key } of service.objects.list({ prefix: 'users/', signal })) {
    if (!referenced.delete(key)) left.push(`an object without a file: ${key}`)
  }
  for (const key of referenced) left.push(`no object: ${key}`)
  await journal.look()
  for (const name of await world.unfinished(journal.keys))
    left.push(`an unfinished upload: ${name}`)
  const pending = await kysely
    .selectFrom('uploads')
    .select('version')
    .where('state', '=', 'pending')
    .execute()
  for (const { version } of pending) left.push(`a pending row: ${version}`)
  for (const table of ['resumable_uploads', 'upload_pieces'] as const) {
    const known = kysely.selectFrom('uploads').select('version')
    const rows = kysely.selectFrom(table).select('version').where('version', 'not in', known)
    for (const { version } of await rows.execute()) left.push(`a row of ${table}: ${version}`)
  }
  const garbage = await kysely.selectFrom('garbage').select('object_key').execute()
  for (const { object_key } of garbage) left.push(`garbage that stays: ${object_key}`)
  return left
}

async function checkQuota(world: World, { user, files, tally }: SettledUser): Promise<void> {
  const { userId } = user
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  const usage = await readUsage(world.service.ledger, userId)
  const expected = { used: bytes, reserved: 0, fileCount: files.length }
  const { capacity = 0, ...found } = usage ?? {}
  if (JSON.stringify(found) !== JSON.stringify({ ...found, ...expected })) {
    tally.report('quota', `${userId}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`)
  }
  if (bytes > capacity) tally.report('quota', `${userId} holds ${bytes} of ${capacity} bytes`)
}

/** A content is uploaded once, so there is at most one file of it, and that of a resumable upload has its id. */
async function checkVersions({ database }: World, tally: Tally): Promise<void> {
  const rows = await database.kysely.selectFrom('files').select(['version', 'sha256']).execute()
  const versions = new Map(rows.map((row) => [row.sha256, row.version]))
  const empty = sha256('')
  for (const { sha256: digest, version } of rows) {
    if (digest !== empty && versions.get(digest) !== version) {
      tally.report('altered', `two files of one upload: ${version} and ${versions.get(digest)}`)
    }
  }
  for (const [id, digest] of tally.finishedUploads) {
    const version = digest === empty ? id : (versions.get(digest) ?? id)
    if (version !== id) tally.report('altered', `upload ${id} is the file ${version}`)
  }
}

async function filesOf({ service }: World, { userId }: WorldUser): Promise<readonly File[]> {
  const account = await service.ledger.findAccount(userId)
  const viewer = account && authorized(callerOf(account.user))
  const listing = { userId, viewer, prefix: '' as never, order: 'name' } as const
  const { files, next } = await service.repository.list({
    ...listing,
    after: undefined,
    limit: 1000,
  })
  if (next !== undefined) throw new Error(`${userId} has more files than a run writes`)
  return files
}
