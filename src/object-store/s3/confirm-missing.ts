import { sleep } from '../../core/async/sleep.ts'

/** How long a cluster node may take to find its peers. */
export const SECOND_LOOK_MS = 500

/** Looks again after `SECOND_LOOK_MS` before it reports what a cluster node denies. */
export async function confirmMissing<T>(
  signal: AbortSignal,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const found = await look()
  if (found !== undefined) return found
  await sleep(SECOND_LOOK_MS, signal)
  return await look()
}
