import { invalidParameter } from './errors.ts'

export const DEFAULT_PAGE_LIMIT = 100
export const MAX_PAGE_LIMIT = 1000

/** 1 to 1000 in decimal digits, 100 if `undefined`; else throws `invalid_parameter` (fact `parameter`). */
export function parsePageLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PAGE_LIMIT
  const limit = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : Number.NaN
  if (limit <= MAX_PAGE_LIMIT) return limit
  throw invalidParameter('limit', `limit must be an integer between 1 and ${MAX_PAGE_LIMIT}.`)
}

/** Takes up to `limit + 1` entries. `last` is the page's last entry, or `undefined` on the last page. */
export function cutPage<T>(
  found: readonly T[],
  limit: number,
): { readonly page: readonly T[]; readonly last: T | undefined } {
  const page = found.slice(0, limit)
  return { page, last: found.length > limit ? page.at(-1) : undefined }
}
