import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

/** Runs a program to its end and returns what it printed; rejects when it fails, or is not done in time. */
export async function runProgram(
  program: string,
  args: readonly string[],
  timeoutMs: number,
): Promise<string> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs })
  const ended = once(child, 'close')
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  if (child.exitCode === 0) return out
  const reason = child.signalCode === null ? `ended with ${child.exitCode}` : 'was not done in time'
  const lines = err.trim().split('\n')
  const failures = lines.filter((line) => /failed/i.test(line)).join('\n')
  throw new Error(`${program} ${reason}: ${failures}\n${lines.join('\n').slice(-2000)}`)
}
