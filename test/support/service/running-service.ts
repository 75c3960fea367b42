import { expect, vi } from 'vitest'
import { exitOf, type Program, startProgram } from './program.ts'

type Settings = Readonly<Record<string, string>>

/** A service that runs as a process of its own. */
export interface RunningService {
  readonly url: string
  /** What it has printed so far. */
  readonly output: () => string
  /** Ends it as an operator does. */
  stop(): Promise<void>
  /** Ends it as a crash does. */
  kill(): Promise<void>
}

/** Starts `cloud-repo serve` on any free port and waits until it listens. */
export async function startService(program: Omit<Program, 'args'>): Promise<RunningService> {
  const { process, output } = await startProgram({ ...program, args: ['serve'] })
  const listens = /listens on (http:[^\s"]+)|the API[a-zA-Z ]* listens at (http:[^"]+)/
  await vi.waitFor(() => expect(output()).toMatch(listens), { timeout: 60_000 })
  const [, printed, logged = ''] = listens.exec(output()) ?? []
  const endBy = async (signal: NodeJS.Signals): Promise<void> => {
    process.kill(signal)
    await exitOf(process)
  }
  return {
    url: printed ?? logged,
    output,
    stop: () => endBy('SIGTERM'),
    kill: () => endBy('SIGKILL'),
  }
}

export interface Ran {
  readonly code: number | null
  readonly output: string
}

/** Runs a command to its end. */
export async function runCommand(
  args: string,
  { environment, opened }: { environment: Settings; opened: AsyncDisposableStack },
): Promise<Ran> {
  const { process, output } = await startProgram({ args: args.split(' '), environment, opened })
  const code = await exitOf(process)
  return { code, output: output() }
}

/** Makes a user, or finds it, and returns the `Cookie` header of its requests. */
export async function issueCookie(
  userId: string,
  program: { environment: Settings; opened: AsyncDisposableStack },
): Promise<string> {
  await runCommand(`users create ${userId}`, program)
  const { output } = await runCommand(`tokens issue ${userId} --json`, program)
  const [, secret = ''] = /"access_token":"(crt_[^"]+)"/.exec(output) ?? []
  expect(secret).not.toBe('')
  return `access_token=${secret}`
}
