import type { Type as TypeBox } from 'typebox'

export type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

type Name =
  | 'Array'
  | 'Boolean'
  | 'Integer'
  | 'Intersect'
  | 'Literal'
  | 'Object'
  | 'Optional'
  | 'String'
  | 'Unknown'
  | 'Unsafe'

type Schema = Readonly<Record<string | symbol, unknown>>

/** On members of objects that may be left out; no part of the JSON Schema. */
const OPTIONAL = Symbol('optional')

const builders: Record<Name, (...args: never[]) => Schema> = {
  Array: (items: Schema, options?: Schema) => ({ type: 'array', items, ...options }),
  Boolean: (options?: Schema) => ({ type: 'boolean', ...options }),
  Integer: (options?: Schema) => ({ type: 'integer', ...options }),
  Intersect: (allOf: readonly Schema[], options?: Schema) => ({ allOf, ...options }),
  Literal: (value: unknown) => ({ type: typeof value, const: value }),
  Object: (properties: Readonly<Record<string, Schema>>, options?: Schema) => {
    const required = Object.entries(properties).flatMap(([name, member]) =>
      OPTIONAL in member ? [] : [name],
    )
    const demands = required.length > 0 ? { required } : {}
    return { type: 'object', ...demands, properties, ...options }
  },
  Optional: (member: Schema) => ({ ...member, [OPTIONAL]: true }),
  String: (options?: Schema) => ({ type: 'string', ...options }),
  Unknown: () => ({}),
  Unsafe: (schema: Schema) => schema,
}

/**
 * TypeBox, as far as it is used here: its types, and JSON Schemas as it makes them. To load all of it takes a quarter of
 * the time to start, and 30 MB (bench/NOTES.md); a builder that is wanted besides is a line here.
 */
export const Type = builders as unknown as Pick<typeof TypeBox, Name>
