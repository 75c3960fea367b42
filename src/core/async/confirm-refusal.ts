import { isAppError } from '../errors.ts'

/**
 * Settles as `outcome`, but rejects with a refusal only once `confirm` has resolved: a refusal reports what was read.
 * `unavailable` states no fact, so it needs no confirmation.
 */
export async function confirmRefusal<T>(
  outcome: Promise<T>,
  confirm: () => Promise<void>,
): Promise<T> {
  try {
    return await outcome
  } catch (error) {
    if (isAppError(error) && error.code !== 'unavailable') await confirm()
    throw error
  }
}
