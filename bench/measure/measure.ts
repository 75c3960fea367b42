import type { Figures, ProcessName } from './figures.ts'
import { cpuSeconds, endedCpuSeconds, peakBytes, resetPeak } from './process-usage.ts'

const MIB = 2 ** 20
const GIB = 2 ** 30

/** The processes that a side uses, by their ids. Of several with one name the sum is measured. */
export type Processes = Readonly<Partial<Record<ProcessName, readonly number[]>>>

/** What a load generator says of a run that has ended. */
export interface Work {
  readonly operations: number
  readonly seconds: number
  /** Of the contents. */
  readonly bytes: number
  readonly p50Ms?: number
  readonly p99Ms?: number
  /** That the object store has received meanwhile. */
  readonly objectStoreRequests?: number | undefined
}

/** Runs a load generator, as programs that have ended when `work` resolves, and measures what it took. */
export async function measure(processes: Processes, work: () => Promise<Work>): Promise<Figures> {
  const { service } = processes
  for (const pid of service ?? []) await resetPeak(pid)
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
    ...(done.objectStoreRequests !== undefined && {
      object_store_requests: done.objectStoreRequests / operations,
    }),
    generator_cpu_share: generator / seconds,
    ...(service !== undefined && { peak_rss_mib: (await sumOf(service, peakBytes)) / MIB }),
  }
}

const NAMES: readonly ProcessName[] = ['service', 'object_store', 'database', 'nginx', 'peer']

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
    const pids = processes[name]
    if (pids !== undefined) usage[name] = await sumOf(pids, cpuSeconds)
  }
  return { ...usage, generator: await endedCpuSeconds() }
}

async function sumOf(
  pids: readonly number[],
  figure: (pid: number) => Promise<number>,
): Promise<number> {
  let sum = 0
  for (const pid of pids) sum += await figure(pid)
  return sum
}

function minus(after: number | undefined, before: number | undefined): number | undefined {
  return after === undefined || before === undefined ? undefined : after - before
}
