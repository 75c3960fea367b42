import { sleep } from '../../core/async/sleep.ts'

const SECOND_LOOK_MS = 500

/** Looks again after 500 ms before it reports a missing object: a cluster node may not have found its peers yet. */
export async function confirmMissing<T>(
  signal: AbortSignal,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const found = await look()
  if (found !== undefined) return found
  await sleep(SECOND_LOOK_MS, signal)
  return await look()
}
