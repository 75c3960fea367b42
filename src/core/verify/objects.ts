import type { TracedObject } from './inventory.ts'
import { inChunks } from '../async/chunks.ts'
import { forEachConcurrent } from '../async/for-each-concurrent.ts'
import {
  OBJECT_KEY_PREFIX,
  type ObjectKey,
  ownerOf,
  versionOf,
  isVersion,
} from '../objects/object-key.ts'
import type { ListedObject } from '../objects/object-store.ts'
import type { UserId } from '../users/user-id.ts'
import type { VerifyRun } from './verify-run.ts'

const OBJECTS_PER_BATCH = 500
/** Every discard reads all files, however few keys it has. */
const ORPHANS_PER_DISCARD = 5_000
const PARALLEL_HEADS = 8

/** Reports unreferenced objects; returns how many complete objects belong to what the balance counted. */
export async function verifyObjects(
  run: VerifyRun,
  { userId, readAt }: { readonly userId: UserId; readonly readAt: number },
): Promise<number> {
  let sound = 0
  let orphans: ObjectKey[] = []
  for await (const batch of batchesOf(run, `${OBJECT_KEY_PREFIX}${userId}/`)) {
    const traced = await trace(run, batch)
    sound += batch.filter(({ key, size }) => {
      const content = traced.get(key)?.content
      return content !== undefined && content.size === size && content.since <= readAt
    }).length
    const lost = await findLost(run, { batch, traced })
    orphans.push(...lost.filter(isOurs))
    if (orphans.length >= ORPHANS_PER_DISCARD) {
      await reportOrphans(run, { userId, keys: orphans })
      orphans = []
    }
    reportForeign(run, { userId, keys: lost.filter((key) => !isOurs(key)) })
    run.verification.objects += batch.length
    run.onProgress?.(run.verification)
  }
  await reportOrphans(run, { userId, keys: orphans })
  return sound
}

function isOurs(key: ObjectKey): boolean {
  return isVersion(versionOf(key))
}

/** Reports objects of unknown users. They may belong to another database in the bucket, so none is repaired. */
export async function verifyUnknownUsers(run: VerifyRun): Promise<void> {
  for await (const listed of batchesOf(run, OBJECT_KEY_PREFIX)) {
    const owners = new Set(listed.map(({ key }) => ownerOf(key)).filter((id) => id !== undefined))
    const known: ReadonlySet<UserId | undefined> = await run.inventory.findUsers([...owners])
    const batch = listed.filter(({ key }) => !known.has(ownerOf(key)))
    // Garbage and the journal outlive their users.
    const keys = await findLost(run, { batch, traced: await trace(run, batch) })
    for (const key of keys) reportForeign(run, { userId: ownerOf(key), keys: [key] })
    run.verification.objects += batch.length
    run.onProgress?.(run.verification)
  }
}

function batchesOf(
  { objects, signal }: VerifyRun,
  prefix: string,
): AsyncIterable<readonly ListedObject[]> {
  return inChunks(objects.list({ prefix, signal }), OBJECTS_PER_BATCH)
}

async function trace(
  { inventory }: VerifyRun,
  batch: readonly ListedObject[],
): Promise<ReadonlyMap<ObjectKey, TracedObject>> {
  const traced = await inventory.traceObjects(batch.map(({ key }) => key))
  return new Map(traced.map((object) => [object.objectKey, object]))
}

interface Traced {
  readonly batch: readonly ListedObject[]
  readonly traced: ReadonlyMap<ObjectKey, TracedObject>
}

/** Untraced keys whose object still exists: others were swept after the listing. */
async function findLost(
  { objects, signal }: VerifyRun,
  { batch, traced }: Traced,
): Promise<readonly ObjectKey[]> {
  const lost: ObjectKey[] = []
  const untraced = batch.map(({ key }) => key).filter((key) => !traced.has(key))
  await forEachConcurrent(untraced, PARALLEL_HEADS, async (key) => {
    if ((await objects.head({ key, signal })) !== undefined) lost.push(key)
  })
  return lost
}

interface LostObjects {
  readonly userId: UserId | undefined
  readonly keys: readonly ObjectKey[]
}

async function reportOrphans(run: VerifyRun, { userId, keys }: LostObjects): Promise<void> {
  const repairs = run.repair && keys.length > 0
  const discarded = repairs ? await run.inventory.discardObjects(keys) : []
  const gone = new Set(discarded)
  for (const objectKey of keys) {
    run.report({ kind: 'orphaned_object', userId, objectKey, repaired: gone.has(objectKey) })
  }
}

function reportForeign(run: VerifyRun, { userId, keys }: LostObjects): void {
  for (const objectKey of keys) {
    run.report({ kind: 'foreign_object', userId, objectKey, repaired: false })
  }
}
