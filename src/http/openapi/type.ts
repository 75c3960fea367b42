import type { Type as TypeBox } from 'typebox'

export type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
export type { Static } from 'typebox'

type Name =
  | 'Array'
  | 'Boolean'
  | 'Integer'
  | 'Intersect'
  | 'Literal'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'String'
  | 'Unknown'
  | 'Unsafe'

type Schema = Readonly<Record<string, unknown>>

/** Members of objects that may be left out. */
const optional = new WeakSet<Schema>()

const builders: Record<Name, (...args: never[]) => Schema> = {
  Array: (items: Schema, options?: Schema) => ({ type: 'array', items, ...options }),
  Boolean: (options?: Schema) => ({ type: 'boolean', ...options }),
  Integer: (options?: Schema) => ({ type: 'integer', ...options }),
  Intersect: (allOf: readonly Schema[], options?: Schema) => ({ allOf, ...options }),
  Literal: (value: unknown) => ({ type: typeof value, const: value }),
  Number: (options?: Schema) => ({ type: 'number', ...options }),
  Object: (properties: Readonly<Record<string, Schema>>, options?: Schema) => {
    const required = Object.entries(properties).flatMap(([name, member]) =>
      optional.has(member) ? [] : [name],
    )
    const demands = required.length > 0 ? { required } : {}
    return { type: 'object', ...demands, properties, ...options }
  },
  Optional: (member: Schema) => {
    const copy = { ...member }
    optional.add(copy)
    return copy
  },
  String: (options?: Schema) => ({ type: 'string', ...options }),
  Unknown: () => ({}),
  Unsafe: (schema: Schema) => schema,
}

/**
 * TypeBox, as far as it is used here: its types, and JSON Schemas as it makes them. To load all of it takes a quarter of
 * the time to start, and 30 MB (bench/NOTES.md).
 */
export const Type = builders as unknown as Pick<typeof TypeBox, Name>
