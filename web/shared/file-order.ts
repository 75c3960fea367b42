import { compareNames } from './format.ts'
import type { FileEntry, Order } from './model.ts'

export type Comparison<T> = (a: T, b: T) => number

/** As people sort; names that are alike to them, by bytes. */
export const asPeople: Comparison<string> = (a, b) => compareNames(a, b) || compareBytes(a, b)

/** As the service sorts: by the bytes in UTF-8. */
export const asService: Comparison<string> = compareBytes

/** Files of one size or time are in the order of their names, in the same direction. */
export function comparisonOf(order: Order, byName: Comparison<string>): Comparison<FileEntry> {
  const names: Comparison<FileEntry> = (a, b) => byName(a.name, b.name)
  const ascending = {
    name: names,
    size: (a, b) => a.size - b.size || names(a, b),
    updated_at: (a, b) => Date.parse(a.updated_at) - Date.parse(b.updated_at) || names(a, b),
  } satisfies Record<string, Comparison<FileEntry>>
  const compare = ascending[fieldOf(order)]
  return isDescending(order) ? reversed(compare) : compare
}

/** Folders have neither size nor time, and are in the order of their names, upwards unless the files are not. */
export function foldersIn(order: Order, isByPeople: boolean): Comparison<string> {
  const compare = isByPeople ? asPeople : asService
  return order === '-name' ? reversed(compare) : compare
}

function reversed<T>(compare: Comparison<T>): Comparison<T> {
  return (a, b) => compare(b, a)
}

function isDescending(order: Order): boolean {
  return order.startsWith('-')
}

export function fieldOf(order: Order): 'name' | 'size' | 'updated_at' {
  return order.replace('-', '') as ReturnType<typeof fieldOf>
}

/** The order from the other end. */
export function opposite(order: Order): Order {
  const field = fieldOf(order)
  return isDescending(order) ? field : `-${field}`
}

/** The index at which an entry belongs among sorted ones. */
export function placeOf<T>(entry: T, sorted: readonly T[], compare: Comparison<T>): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const other = sorted[middle]
    if (other !== undefined && compare(other, entry) < 0) low = middle + 1
    else high = middle
  }
  return low
}

function compareBytes(a: string, b: string): number {
  const [x, y] = [new TextEncoder().encode(a), new TextEncoder().encode(b)]
  for (let at = 0; at < Math.min(x.length, y.length); at += 1) {
    const difference = (x[at] ?? 0) - (y[at] ?? 0)
    if (difference !== 0) return difference
  }
  return x.length - y.length
}
