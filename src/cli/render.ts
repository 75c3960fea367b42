import { formatByteSize } from '../core/byte-size.ts'

export type Scalar = string | number | boolean | null | Bytes
export type Row = Readonly<Record<string, Scalar>>
export type Result = Row | readonly Row[]

/** A number of bytes: an integer in JSON, with a unit for people. */
export class Bytes {
  readonly #count: number

  constructor(count: number) {
    this.#count = count
  }

  toJSON(): number {
    return this.#count
  }

  toString(): string {
    return formatByteSize(this.#count)
  }
}

/** Renders a list as a table, and a record as one line per member. */
export function render(result: Result): string {
  if (isList(result)) return table(result)
  const width = Math.max(...Object.keys(result).map((key) => key.length))
  return Object.entries(result)
    .map(([key, value]) => `${key.padEnd(width)}  ${cell(value)}`)
    .join('\n')
}

function table(rows: readonly Row[]): string {
  if (rows.length === 0) return '(none)'
  const columns = [...new Set(rows.flatMap(Object.keys))]
  const widths = columns.map((column) =>
    Math.max(column.length, ...rows.map((row) => cell(row[column]).length)),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((text, i) => text.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd()
  return [line(columns), ...rows.map((row) => line(columns.map((c) => cell(row[c]))))].join('\n')
}

function isList(result: Result): result is readonly Row[] {
  return Array.isArray(result)
}

function cell(value: Scalar | undefined): string {
  return value === null || value === undefined ? '-' : String(value)
}

/** Escapes control characters, which a terminal obeys, as `\uXXXX`. JSON keeps its meaning; newlines stay. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
  })
}

const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu
