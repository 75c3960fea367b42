import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from './schema.ts'

/** A statement, given its values. */
export type Statement<V> = (values: V) => CompiledQuery

/** Stands for a value of that name. */
export type Slot<V> = <K extends keyof V>(name: K) => RawBuilder<V[K]>

/** Builds and compiles a statement once, for all the values that it will be run with. */
export function compileOnce<V>(
  db: Kysely<Tables>,
  build: (slot: Slot<V>) => RawBuilder<unknown>,
): Statement<V> {
  const compiled = build((name) => sql`${new Place(name)}`).compile(db)
  return (values) => ({
    ...compiled,
    parameters: compiled.parameters.map((parameter) =>
      parameter instanceof Place ? (values[parameter.name as keyof V] ?? null) : parameter,
    ),
  })
}

class Place {
  readonly name: PropertyKey

  constructor(name: PropertyKey) {
    this.name = name
  }
}
