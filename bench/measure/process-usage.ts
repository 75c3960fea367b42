import { readdir, readFile, writeFile } from 'node:fs/promises'

/** As Linux counts time for programs, whatever the kernel's own clock is. */
const TICKS_PER_SECOND = 100

/** Seconds of CPU of a process and of all below it, those included that have ended and were waited for. */
export async function cpuSeconds(pid: number): Promise<number> {
  const family = await familyOf(pid)
  return family.reduce((sum, { ticks }) => sum + ticks, 0) / TICKS_PER_SECOND
}

/** Seconds of CPU of the programs that this process has run to their end. */
export async function endedCpuSeconds(): Promise<number> {
  const { endedTicks } = parseStat(await readFile('/proc/self/stat', 'utf8'))
  return endedTicks / TICKS_PER_SECOND
}

/** Begins a new peak of the resident memory of a process and of all below it. */
export async function resetPeak(pid: number): Promise<void> {
  const family = await familyOf(pid)
  await Promise.all(family.map((each) => writeFile(`/proc/${each.pid}/clear_refs`, '5')))
}

/** The sum of the peaks of a process and of all below it, in bytes. */
export async function peakBytes(pid: number): Promise<number> {
  return await memoryOf(pid, 'VmHWM')
}

export async function residentBytes(pid: number): Promise<number> {
  return await memoryOf(pid, 'VmRSS')
}

async function memoryOf(pid: number, figure: string): Promise<number> {
  const pattern = new RegExp(`${figure}:\\s+(\\d+) kB`)
  const family = await familyOf(pid)
  const texts = await Promise.all(family.map((each) => read(`/proc/${each.pid}/status`)))
  return texts.reduce((sum, text) => sum + Number(pattern.exec(text)?.[1] ?? 0) * 1024, 0)
}

interface Process {
  readonly pid: number
  readonly parent: number
  /** Its own and those of children that have ended. */
  readonly ticks: number
  readonly endedTicks: number
}

async function familyOf(pid: number): Promise<readonly Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const stats = await Promise.all(pids.map((each) => read(`/proc/${each}/stat`)))
  const all = stats.filter((text) => text !== '').map(parseStat)
  const found = all.filter((each) => each.pid === pid)
  for (const { pid: parent } of found) found.push(...all.filter((each) => each.parent === parent))
  return found
}

/** As proc(5) has it; a program's name stands in parentheses and may hold any character. */
export function parseStat(text: string): Process {
  const nameEnd = text.lastIndexOf(')')
  const [, parent, ...fields] = text.slice(nameEnd + 2).split(' ')
  const [user, system, endedUser, endedSystem] = fields.slice(9, 13).map(Number)
  const endedTicks = (endedUser ?? 0) + (endedSystem ?? 0)
  return {
    pid: Number.parseInt(text, 10),
    parent: Number(parent),
    ticks: (user ?? 0) + (system ?? 0) + endedTicks,
    endedTicks,
  }
}

/** Nothing of a process that has ended meanwhile. */
async function read(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch(() => '')
}
