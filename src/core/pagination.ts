export const DEFAULT_PAGE_LIMIT = 100
export const MAX_PAGE_LIMIT = 1000

/** Takes up to `limit + 1` entries. `last` is the page's last entry, or `undefined` on the last page. */
export function cutPage<T>(
  found: readonly T[],
  limit: number,
): { readonly page: readonly T[]; readonly last: T | undefined } {
  const page = found.slice(0, limit)
  return { page, last: found.length > limit ? page.at(-1) : undefined }
}
