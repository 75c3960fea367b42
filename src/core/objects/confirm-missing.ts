import { sleep } from '../async/sleep.ts'

const SECOND_LOOK_MS = 500

/**
 * Asks for an object, and a moment later once more when the store denies it: in a cluster the node that is asked may not
 * have found the others yet.
 */
export async function confirmMissing<T>(
  signal: AbortSignal,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const found = await look()
  if (found !== undefined) return found
  await sleep(SECOND_LOOK_MS, signal)
  return await look()
}
