import type { CommandCall } from './command.ts'
import type { Row } from './render.ts'

/** Prints a finding while its command goes on: a JSON document for programs, a line for people. */
export function printFinding({ json, print }: CommandCall, row: Row): void {
  print(json ? JSON.stringify(row) : lineOf(row))
}

/** Its kind, then what is known of it. */
function lineOf({ kind, repaired, ...facts }: Row): string {
  const said = Object.entries(facts).filter(([, value]) => value !== null)
  const words = said.map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return [String(kind).padEnd(17), ...words, ...(repaired === true ? ['repaired'] : [])].join(' ')
}
