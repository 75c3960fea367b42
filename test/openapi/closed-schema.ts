import type { Json } from '../../src/http/openapi/operation.ts'

/**
 * A schema that allows nothing but what it names. Documents leave their schemas open, so that members can be added;
 * an answer that has one which its document does not name is still a fault.
 */
export function closed(schema: unknown): unknown {
  const inner = closedInside(schema)
  if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
  const names = '$ref' in inner || 'properties' in inner || 'allOf' in inner
  return names ? { ...inner, unevaluatedProperties: false } : inner
}

/** The same for what is inside it alone, as for a schema that is part of another. */
export function closedInside(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema
  const { properties, items, allOf, ...rest } = schema as Json
  return {
    ...rest,
    ...(properties === undefined ? {} : { properties: mapValues(properties as Json, closed) }),
    ...(items === undefined ? {} : { items: closed(items) }),
    ...(allOf === undefined ? {} : { allOf: (allOf as unknown[]).map(closedInside) }),
  }
}

export function mapValues(members: Json, map: (value: unknown) => unknown): Json {
  return Object.fromEntries(Object.entries(members).map(([key, value]) => [key, map(value)]))
}
