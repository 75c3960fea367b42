import type { CommandCall, Terminal } from './command.ts'
import { Bytes, type Row, type Scalar } from './render.ts'

export function printFinding({ json, print }: CommandCall, row: Row): void {
  print(json ? JSON.stringify(row) : findingLine(row))
}

function findingLine({ kind, repaired, ...facts }: Row): string {
  const said = Object.entries(facts).filter(([, value]) => value !== null)
  const words = said.map(([name, value]) => `${name}=${exact(value)}`)
  return [String(kind).padEnd(17), ...words, ...(repaired === true ? ['repaired'] : [])].join(' ')
}

/** Not rounded: a difference of some bytes is a finding. */
function exact(value: Scalar): string {
  return value instanceof Bytes ? `${value.toJSON()} B` : JSON.stringify(value)
}

const EVERY_MS = 10_000

/** Returns a function that may be called at any rate and prints every 10 s. */
export function showProgress<T>(
  { printError }: Terminal,
  describe: (progress: T) => string,
): (progress: T) => void {
  let toldAt = performance.now()
  return (progress) => {
    if (performance.now() - toldAt < EVERY_MS) return
    toldAt = performance.now()
    printError(`Progress: ${describe(progress)}`)
  }
}
