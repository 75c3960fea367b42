import { type CompiledQuery, type Kysely, type KyselyPlugin, type RawBuilder, sql } from 'kysely'
import type { Tables } from './schema.ts'

/** PostgreSQL plans the statement once per connection. Name its columns: a migration may change what `*` means. */
export const PREPARED: KyselyPlugin = {
  transformQuery: ({ node }) => ({ ...node, isPrepared: true }),
  transformResult: async ({ result }) => result,
}

/** Returns the query with these values. */
export type Statement<V, R = unknown> = (values: V) => CompiledQuery<R>

/** Stands for a value in the SQL of a statement. */
export type Slot<V> = <K extends keyof V>(name: K) => RawBuilder<V[K]>

/** Slots for a statement that is not compiled once: each is its value. */
export function inline<V>(values: V): Slot<V> {
  return (name) => sql`${values[name] ?? null}`
}

/** Compiling costs more than running a small statement. A value that is `undefined` becomes NULL. */
export function compileOnce<V, R = unknown>(
  db: Kysely<Tables>,
  build: (slot: Slot<V>) => RawBuilder<R>,
): Statement<V, R> {
  const places = new Map<keyof V, Placeholder>()
  const slot: Slot<V> = (name) => {
    const place = places.get(name) ?? new Placeholder(name)
    places.set(name, place)
    return sql`${place}`
  }
  const compiled = bindOnce(build(slot).compile(db.withPlugin(PREPARED)))
  return (values) => ({
    ...compiled,
    parameters: compiled.parameters.map((parameter) =>
      parameter instanceof Placeholder ? (values[parameter.name as keyof V] ?? null) : parameter,
    ),
  })
}

/**
 * Numbers the parameters of a statement for SQLite, so that one which occurs several times is bound once: to convert and
 * bind a number costs as much as a comparison with it. If none does, they stay as they are: SQLite searches the numbered
 * ones for each that is bound, so that an INSERT of 250 rows would take 50 times as long.
 */
function bindOnce<R>(compiled: CompiledQuery<R>): CompiledQuery<R> {
  const parameters = [...new Set(compiled.parameters)]
  if (parameters.length === compiled.parameters.length) return compiled
  const [first = '', ...parts] = compiled.sql.split('?')
  if (parts.length !== compiled.parameters.length) return compiled
  const numbered = parts.map((part, at) => {
    const number = parameters.indexOf(compiled.parameters[at]) + 1
    return `?${number}${part}`
  })
  return { ...compiled, sql: first + numbered.join(''), parameters }
}

/** Builds a statement from the SQL that all statements of a ledger share, and from slots for its values. */
export type Build<C, V, R> = (slot: Slot<V>, shared: C) => RawBuilder<R>

export type Compiler<C> = <V, R>(build: Build<C, V, R>) => Statement<V, R>

/** Compiles what each function builds once, at its first use. */
export function createCompiler<C>(db: Kysely<Tables>, shared: C): Compiler<C> {
  const statements = new Map<unknown, unknown>()
  return <V, R>(build: Build<C, V, R>) => {
    const known = statements.get(build) as Statement<V, R> | undefined
    if (known !== undefined) return known
    const statement = compileOnce<V, R>(db, (slot) => build(slot, shared))
    statements.set(build, statement)
    return statement
  }
}

class Placeholder {
  readonly name: PropertyKey

  constructor(name: PropertyKey) {
    this.name = name
  }
}
