import type { Figures, ProcessName } from './figures.ts'
import { cpuSeconds, endedCpuSeconds, peakBytes, resetPeak } from './process-usage.ts'

const MIB = 2 ** 20
const GIB = 2 ** 30

/** Those whose use of the machine is measured, by their ids. */
export type Processes = Readonly<Partial<Record<ProcessName, number | undefined>>>

/** What a load generator says of a run that has ended. */
export interface Work {
  readonly operations: number
  readonly seconds: number
  /** Of the contents. */
  readonly bytes: number
  readonly p50Ms?: number
  readonly p99Ms?: number
}

/** Runs a load generator, as programs that have ended when `work` resolves, and measures what it took. */
export async function measure(processes: Processes, work: () => Promise<Work>): Promise<Figures> {
  const { service } = processes
  if (service !== undefined) await resetPeak(service)
  const before = await usageOf(processes)
  const done = await work()
  const after = await usageOf(processes)
  const used = (name: keyof Usage): number | undefined =>
    minus(after[name], before[name]) ?? undefined
  const { operations, seconds, bytes } = done
  const generator = used('generator') ?? 0
  return {
    per_second: operations / seconds,
    seconds: seconds / operations,
    mib_per_second: bytes / MIB / seconds,
    ...(done.p50Ms !== undefined && { p50_ms: done.p50Ms }),
    ...(done.p99Ms !== undefined && { p99_ms: done.p99Ms }),
    ...cpuFigures(done, used),
    generator_cpu_share: generator / seconds,
    ...(service !== undefined && { peak_rss_mib: (await peakBytes(service)) / MIB }),
  }
}

const NAMES: readonly ProcessName[] = ['service', 'object_store', 'database', 'nginx']

function cpuFigures(
  { operations, bytes }: Work,
  used: (name: ProcessName) => number | undefined,
): Figures {
  const figures: Record<string, number> = {}
  for (const name of NAMES) {
    const seconds = used(name)
    if (seconds === undefined) continue
    figures[`${name}_cpu_ms`] = (seconds * 1000) / operations
    if (bytes / operations >= MIB) figures[`${name}_cpu_s_per_gib`] = seconds / (bytes / GIB)
  }
  return figures
}

type Usage = Readonly<Partial<Record<ProcessName | 'generator', number>>>

async function usageOf(processes: Processes): Promise<Usage> {
  const usage: Partial<Record<ProcessName | 'generator', number>> = {}
  for (const name of NAMES) {
    const pid = processes[name]
    if (pid !== undefined) usage[name] = await cpuSeconds(pid)
  }
  return { ...usage, generator: await endedCpuSeconds() }
}

function minus(after: number | undefined, before: number | undefined): number | undefined {
  return after === undefined || before === undefined ? undefined : after - before
}
