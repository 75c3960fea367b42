import { hasCode, ABSENT } from '../../core/system-error.ts'

/** Resolves to `undefined` if there is no such file or folder. */
export async function orMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (hasCode(error, ABSENT)) return undefined
    throw error
  }
}
