import { type CompiledQuery, type Kysely, type KyselyPlugin, type RawBuilder, sql } from 'kysely'
import type { Tables } from './schema.ts'

/**
 * Has a connection parse and plan a statement once and keep it, where the engine is a server: for statements that run all
 * the time, and whose text is always the same. They name their columns, since what is kept does not outlive a migration
 * that changes what `*` stands for.
 */
export const PREPARED: KyselyPlugin = {
  transformQuery: ({ node }) => ({ ...node, isPrepared: true }),
  transformResult: async ({ result }) => result,
}

/** A statement, given its values. */
export type Statement<V, R = unknown> = (values: V) => CompiledQuery<R>

/** Stands for a value of that name. */
export type Slot<V> = <K extends keyof V>(name: K) => RawBuilder<V[K]>

/** Builds and compiles a prepared statement once, for all the values that it will be run with. */
export function compileOnce<V, R = unknown>(
  db: Kysely<Tables>,
  build: (slot: Slot<V>) => RawBuilder<R>,
): Statement<V, R> {
  const compiled = build((name) => sql`${new Placeholder(name)}`).compile(db.withPlugin(PREPARED))
  return (values) => ({
    ...compiled,
    parameters: compiled.parameters.map((parameter) =>
      parameter instanceof Placeholder ? (values[parameter.name as keyof V] ?? null) : parameter,
    ),
  })
}

class Placeholder {
  readonly name: PropertyKey

  constructor(name: PropertyKey) {
    this.name = name
  }
}
