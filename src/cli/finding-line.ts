import type { Row } from './render.ts'

/** A finding as a line for people: its kind, then what is known of it. */
export function findingLine({ kind, repaired, ...facts }: Row): string {
  const said = Object.entries(facts).filter(([, value]) => value !== null)
  const words = said.map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return [String(kind).padEnd(17), ...words, ...(repaired === true ? ['repaired'] : [])].join(' ')
}
