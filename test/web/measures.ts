import { readFile } from 'node:fs/promises'

/** How long the tasks of the page's main thread took, in milliseconds. */
export function tasksOf(trace: Buffer): readonly number[] {
  const { traceEvents } = JSON.parse(trace.toString()) as {
    readonly traceEvents: readonly TraceEvent[]
  }
  const threads = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  )
  return traceEvents
    .filter(({ name, pid, tid }) => name.endsWith('RunTask') && threads.has(`${pid} ${tid}`))
    .map(({ tdur = 0 }) => tdur / 1000)
}

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  readonly args: { readonly name?: string }
  /** Microseconds that the thread itself has run; what else the machine does meanwhile does not count. */
  readonly tdur?: number
}

/** Resident bytes of a process; 0 if there is none any more. */
export async function residentBytes(pid: number): Promise<number> {
  return sizeOf(pid, 'VmRSS')
}

/** Resident bytes that a process shares with no file, as the task manager of Chromium counts its memory. */
export async function privateBytes(pid: number): Promise<number> {
  return sizeOf(pid, 'RssAnon')
}

async function sizeOf(pid: number, member: 'VmRSS' | 'RssAnon'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const line = status.split('\n').find((each) => each.startsWith(`${member}:`))
  return Number(/\d+/.exec(line ?? '')?.[0] ?? 0) * 1024
}
