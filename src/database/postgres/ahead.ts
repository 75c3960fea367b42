import type { CompiledQuery, KyselyPlugin } from 'kysely'

/**
 * Has a statement of a transaction sent without waiting for its answer, where that costs a way to a server and back: for
 * statements whose answer nobody looks at. Its own answer is empty, and the statement after it, COMMIT at the latest,
 * rejects when it failed.
 */
export const AHEAD: KyselyPlugin = {
  transformQuery: ({ node }) => ({ ...node, isAhead: true }),
  transformResult: async ({ result }) => result,
}

export function isAhead({ query }: CompiledQuery): boolean {
  return 'isAhead' in query
}
