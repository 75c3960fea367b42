import type { Admin, Json } from './admin.ts'
import type { AdminCommand, CommandCall, Flags } from './command.ts'
import { Bytes, render, type Row, type Scalar } from './render.ts'

/** Prints the answer: for programs as it is, for people what the command shows of it. */
export async function callAdmin(
  admin: Admin,
  command: AdminCommand,
  { operands, flags, switches, json, print, printError }: CommandCall,
): Promise<void> {
  const { calls, columns, text } = command
  const called = calls.find(([, path]) => parametersOf(path).every((name) => name in operands))
  const [method, path] = called ?? ['GET', '']
  const given = { ...withoutParameters(operands, path), ...flags }
  const input = command.input?.(given, switches) ?? given
  const answered = await admin.call({ method, path, parameters: operands, input })
  if (answered === '') return
  if (json) return print(answered)
  const answer = JSON.parse(answered) as Json
  if (text !== undefined) return print(text(answer))
  const { next_cursor: next, prefixes = [], folders, ...others } = answer as Page
  if (next === undefined) return print(detailsOf(answer, columns))
  const rolledUp = prefixes.map((name, at) => ({ name, size: folders?.[at]?.size ?? null }))
  const entries = [...rolledUp, ...Object.values(others as Entries).flat()]
  print(render(entries.map((entry) => rowOf(entry, columns))))
  if (next !== null) printError(`There are more; continue with --cursor ${next}`)
}

/** The answer of a list: the entries under their name, and those that a listing of files has rolled up. */
interface Page {
  readonly next_cursor?: string | null
  readonly prefixes?: readonly string[]
  /** What is below each of `prefixes`, if it was asked for. */
  readonly folders?: readonly { readonly size: number | null }[]
}

type Entries = Readonly<Record<string, readonly Json[]>>

/** A line for each member, and a table for each list that is not empty. */
function detailsOf(answer: Json, columns: string | undefined): string {
  const lines: Record<string, unknown> = {}
  const tables: string[] = []
  for (const [name, value] of Object.entries(answer)) {
    if (!Array.isArray(value) || !value.every(isObject)) lines[name] = value
    else if (value.length > 0) tables.push(`${name}\n${render(value.map((each) => rowOf(each)))}`)
  }
  return [render(rowOf(lines, columns)), ...tables].join('\n\n')
}

function withoutParameters(operands: Flags, path: string): Flags {
  const parameters = new Set(parametersOf(path))
  return Object.fromEntries(Object.entries(operands).filter(([name]) => !parameters.has(name)))
}

function parametersOf(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}

function rowOf(entry: Json, columns?: string): Row {
  return Object.fromEntries(columns === undefined ? allOf(entry) : selectedOf(entry, columns))
}

type Cell = readonly [name: string, value: Scalar]

function allOf(entry: Json): readonly Cell[] {
  return Object.entries(entry).flatMap(([name, value]) =>
    isObject(value) ? allOf(value) : [[name, scalarOf(name, value)] as const],
  )
}

function selectedOf(entry: Json, columns: string): readonly Cell[] {
  return columns.split(' ').map((column) => {
    const [path = '', otherwise = null] = column.split('=')
    const names = path.split('.')
    const name = names.at(-1) ?? ''
    return [name, scalarOf(name, names.reduce(memberOf, entry)) ?? otherwise]
  })
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Members whose numbers are bytes. */
const BYTES = new Set([
  'available',
  'bytes',
  'capacity',
  'length',
  'offset',
  'reserved',
  'share',
  'size',
  'used',
])

function scalarOf(name: string, value: unknown): Scalar {
  if (Array.isArray(value)) return value.join(',')
  if (isObject(value)) {
    return Object.entries(value)
      .map(([term, each]) => `${term}=${JSON.stringify(each)}`)
      .join(' ')
  }
  if (typeof value === 'number') return BYTES.has(name) ? new Bytes(value) : value
  return typeof value === 'string' || typeof value === 'boolean' ? value : null
}
