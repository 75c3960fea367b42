import type { CompiledQuery, KyselyPlugin } from 'kysely'

/**
 * Has a connection parse and plan a statement once and keep it, where the engine is a server: for statements that run all
 * the time, and whose text is always the same. They name their columns, since what is kept does not outlive a migration
 * that changes what `*` stands for.
 */
export const PREPARED: KyselyPlugin = {
  transformQuery: ({ node }) => ({ ...node, isPrepared: true }),
  transformResult: async ({ result }) => result,
}

export function isPrepared({ query }: CompiledQuery): boolean {
  return 'isPrepared' in query
}
