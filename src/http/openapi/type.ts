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

/** Marks optional members. A symbol is not part of the JSON Schema. */
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

/** The part of TypeBox in use: loading all of it takes a quarter of the startup time and 30 MB (bench/NOTES.md). */
export const Type = builders as unknown as Pick<typeof TypeBox, Name>
