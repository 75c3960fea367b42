import { AppError } from '../errors.ts'
import { forEachConcurrent } from '../async/for-each-concurrent.ts'
import { inChunks } from '../async/chunks.ts'
import {
  OBJECT_KEY_PREFIX,
  markedBy,
  type ObjectKey,
  ownerOf,
  versionOf,
  isVersion,
  timeOf,
} from '../objects/object-key.ts'
import { descriptionIn, nameIn } from '../objects/object-metadata.ts'
import type { RebuildRun } from './rebuild-run.ts'
import type { FoundObject } from './journal.ts'

const OBJECTS_PER_BATCH = 500
const PARALLEL_HEADS = 16

/** Adds every object that can be a file to the journal, and reports the others. */
export async function collectObjects(run: RebuildRun): Promise<void> {
  const { journal, objects, signal, counts } = run
  const listing = objects.list({ prefix: OBJECT_KEY_PREFIX, signal })
  for await (const batch of inChunks(listing, OBJECTS_PER_BATCH)) {
    signal.throwIfAborted()
    const marked = batch.flatMap(({ key }) => markedBy(key) ?? [])
    await journal.addMarkers(marked.map(versionOf))
    const keys = batch.map(({ key }) => key).filter((key) => markedBy(key) === undefined)
    const found: FoundObject[] = []
    await forEachConcurrent(keys, PARALLEL_HEADS, async (key) => {
      const object = await examine(run, key)
      if (object !== undefined) found.push(object)
    })
    for (const objectKey of await journal.add(found)) {
      run.report({ kind: 'copied_object', objectKey })
    }
    counts.listed += batch.length
    run.onProgress?.(counts)
  }
}

async function examine(run: RebuildRun, objectKey: ObjectKey): Promise<FoundObject | undefined> {
  const userId = ownerOf(objectKey)
  const version = versionOf(objectKey)
  if (userId === undefined || !isVersion(version)) {
    run.report({ kind: 'foreign_object', objectKey })
    return undefined
  }
  const { objects, signal } = run
  const head = await objects.head({ key: objectKey, signal })
  if (head === undefined) throw deniedObject(objectKey)
  const name = nameIn(head.metadata)
  if (name === undefined) {
    run.report({ kind: 'unnamed_object', userId, objectKey })
    return undefined
  }
  const { size } = head
  const described = descriptionIn(head.metadata)
  return { userId, version, objectKey, name, size, beganAt: timeOf(version), ...described }
}

/** Ends the rebuild: nothing removes objects meanwhile, and an older object would otherwise become the file. */
function deniedObject(objectKey: ObjectKey): AppError {
  return new AppError(
    'unavailable',
    'The object store lists an object that it then reports as missing.',
    {
      cause: new Error(objectKey),
    },
  )
}
