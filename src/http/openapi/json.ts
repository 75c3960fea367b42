/** A schema, or any other part of a document, as JSON. */
export type Json = Readonly<Record<string, unknown>>

/** The same members with other values. */
export function mapMembers<T>(
  members: Readonly<Record<string, T>>,
  map: (value: T, name: string) => unknown,
): Json {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, map(value, name)]),
  )
}

/** The same members in the order of their names. */
export function sortMembers<T>(members: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)))
}
