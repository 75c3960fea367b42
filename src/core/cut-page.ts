/**
 * Cuts a page out of what was found by asking for one entry more than it holds. `last` is its last entry when more
 * follow, and `undefined` when this is the end.
 */
export function cutPage<T>(
  found: readonly T[],
  limit: number,
): { readonly page: readonly T[]; readonly last: T | undefined } {
  const page = found.slice(0, limit)
  return { page, last: found.length > limit ? page.at(-1) : undefined }
}
