import { storeError } from './store-error.ts'

/** The members of an adapter's state of an upload. Throws `storeError` if it is not a JSON object. */
export function parseMembers(storeState: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(storeState)
    if (typeof parsed === 'object' && parsed !== null) return { ...parsed }
  } catch (error) {
    throw storeError(error)
  }
  throw storeError(new TypeError('The state of an upload is not a JSON object'))
}
