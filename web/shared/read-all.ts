import type { Api } from './api.ts'

/** Reads all pages of a list. */
export async function readAll<T>(
  api: Api,
  { path, member }: { readonly path: string; readonly member: string },
): Promise<readonly T[]> {
  const entries: T[] = []
  let cursor: string | null = null
  do {
    const after = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page: Record<string, unknown> = await api.read(`${path}?limit=1000${after}`)
    entries.push(...(page[member] as readonly T[]))
    cursor = page['next_cursor'] as string | null
  } while (cursor !== null)
  return entries
}
