import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../schema.ts'

/** A statement, given its values. */
export type Statement<V> = (values: V) => CompiledQuery

/** Stands for a value of that name. */
export type Slot<V> = <K extends keyof V>(name: K) => RawBuilder<V[K]>

/** Builds and compiles a statement once, for all the values that it will be run with. */
export function compileOnce<V>(
  db: Kysely<Tables>,
  build: (slot: Slot<V>) => RawBuilder<unknown>,
): Statement<V> {
  const compiled = build((name) => sql`${new Placeholder(name)}`).compile(db)
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
