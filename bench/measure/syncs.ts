import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseTrace } from '../../test/support/faults/strace.ts'
import { findProgram } from '../../test/support/servers/local-server.ts'

/** The system calls that make what was written survive a power failure. */
const SYNCS = ['fsync', 'fdatasync', 'sync_file_range', 'msync', 'syncfs']

const REQUESTS = 20

/**
 * How often the process syncs its files per request, while requests are sent one after another, so that none shares a
 * sync. `undefined` if strace is missing or may not attach to the process.
 */
export async function syncsPerRequest(
  pid: number,
  send: (number: number) => Promise<void>,
): Promise<number | undefined> {
  const program = await findProgram('strace').catch(() => undefined)
  if (program === undefined) return undefined
  const folder = await mkdtemp(join(tmpdir(), 'bench-syncs-'))
  const file = join(folder, 'trace')
  const args = ['-f', '-p', String(pid), '-o', file, '-e', `trace=${SYNCS.join(',')}`]
  const strace = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(strace, 'close').catch(() => undefined)
  try {
    // It prints a line when it has attached, and ends if it cannot.
    const attached = once(strace.stderr, 'data').then(([line]) => /attached/.test(String(line)))
    if (!(await Promise.race([attached, ended.then(() => false)]))) return undefined
    // It attaches to the process's other threads after its first line.
    await delay(ATTACH_MS)
    for (let number = 1; number <= REQUESTS; number += 1) await send(number)
    strace.kill('SIGINT')
    await ended
    return parseTrace(await readFile(file, 'utf8')).length / REQUESTS
  } finally {
    strace.kill('SIGINT')
    await ended
    await rm(folder, { recursive: true })
  }
}

const ATTACH_MS = 300
