import type { Json } from '../../../src/http/openapi/operation.ts'

export function mapMembers<T>(
  members: Readonly<Record<string, T>>,
  map: (value: T, name: string) => unknown,
): Json {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, map(value, name)]),
  )
}

export function sortMembers<T>(members: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)))
}
