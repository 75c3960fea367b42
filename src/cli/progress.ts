import type { CommandCall } from './command.ts'

const EVERY_MS = 10_000

/** Says every 10 s how far a command has come that takes long; what it returns can be called as often as one likes. */
export function showProgress<T>(
  { printError }: CommandCall,
  describe: (progress: T) => string,
): (progress: T) => void {
  let toldAt = performance.now()
  return (progress) => {
    if (performance.now() - toldAt < EVERY_MS) return
    toldAt = performance.now()
    printError(`so far ${describe(progress)}`)
  }
}
