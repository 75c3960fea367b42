import { cpus, loadavg, release, totalmem } from 'node:os'

/** What figures depend on beside the code. */
export interface Machine {
  readonly cpus: number
  readonly cpu: string
  readonly memoryGiB: number
  readonly kernel: string
  readonly node: string
  /** How many processes wanted a core in the minute before, which is what the figures of a busy machine are worth. */
  readonly load: number
}

export function describeMachine(): Machine {
  const all = cpus()
  return {
    cpus: all.length,
    cpu: all[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: `Linux ${release()}`,
    node: process.version,
    load: loadavg()[0] ?? 0,
  }
}
