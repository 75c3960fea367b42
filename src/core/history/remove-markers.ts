import { timeoutSignal } from '../async/deadline.ts'
import { forEachConcurrent } from '../async/for-each-concurrent.ts'
import { markerKey, type ObjectKey } from '../objects/object-key.ts'
import type { ObjectStore } from '../objects/object-store.ts'

/** How long a restore waits. */
const REMOVAL_MS = 2_000

const AT_ONCE = 8

/**
 * Removes the markers of restored versions, as many as it can in 2 s. The sweep removes them as well, later: a put of one
 * can still be under way.
 */
export async function removeMarkers(
  objects: Pick<ObjectStore, 'remove'>,
  restored: readonly ObjectKey[],
): Promise<void> {
  if (restored.length === 0) return
  const signal = timeoutSignal(REMOVAL_MS)
  const remove = async (key: ObjectKey): Promise<void> => {
    if (!signal.aborted) await objects.remove({ key: markerKey(key), signal })
  }
  await forEachConcurrent(restored, AT_ONCE, remove).catch(() => undefined)
}
