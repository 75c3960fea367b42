import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { eventually } from '../eventually.ts'

/** A system call that has come to its end. */
export interface SystemCall {
  /** Its number; that of a process's main thread is the process's. */
  readonly thread: number
  readonly name: string
  /** Its arguments as strace prints them, with the paths of files and the addresses of sockets. */
  readonly args: string
  /** Where in the order of all beginnings and ends it began, and where it ended. */
  readonly began: number
  readonly ended: number
}

/** What runs a program so that the given system calls of all its threads are written to `file`. */
export function straceCommand(file: string, calls: readonly string[]): readonly string[] {
  // -D: the program is the child that was started, and strace the one that watches it.
  return ['strace', '-D', '-f', '-yy', '-s', '32', '-o', file, '-e', `trace=${calls.join(',')}`]
}

/** Why no program can be watched here, if so. */
export async function missingStrace(): Promise<string | undefined> {
  try {
    await promisify(execFile)('strace', ['-f', '-o', '/dev/null', 'true'])
    return undefined
  } catch (error) {
    return `No strace: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** As `parseTrace`, of a program that has ended, as soon as `file` has come to its end. */
export async function readTrace(file: string): Promise<readonly SystemCall[]> {
  const trace = await eventually(async () => {
    const text = await readFile(file, 'latin1')
    if (!END.test(text)) throw new Error('The trace does not end')
    return text
  })
  return parseTrace(trace)
}

const END = /\+\+\+ (exited|killed)[^\n]*\n$/

/** The calls that succeeded, in the order in which they began. */
export function parseTrace(trace: string): readonly SystemCall[] {
  const calls: SystemCall[] = []
  const unfinished = new Map<string, { readonly text: string; readonly began: number }>()
  for (const [at, line] of trace.split('\n').entries()) {
    const [, thread = '', text = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    const begun = /^(.*) <unfinished \.\.\.>$/.exec(text)
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(text)
    if (begun !== null) {
      unfinished.set(thread, { text: begun[1] ?? '', began: at })
      continue
    }
    const first = resumed === null ? undefined : unfinished.get(thread)
    const whole = `${first?.text ?? ''}${resumed?.[1] ?? text}`
    const [, name, args] = /^(\w+)\((.*)\) += \d+/.exec(whole) ?? []
    if (name === undefined || args === undefined) continue
    calls.push({ thread: Number(thread), name, args, began: first?.began ?? at, ended: at })
  }
  return calls.sort((one, other) => one.began - other.began)
}
