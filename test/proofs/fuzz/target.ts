import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { InstanceTimes } from '../crash/instance.ts'
import { KEEP_COMPILED } from '../../support/service/compiled.ts'

export interface TargetOptions {
  readonly environment: Readonly<Record<string, string>>
  readonly times: InstanceTimes
  /** Called with what it said last when it ended although nobody ended it. */
  readonly onDeath: (reason: string) => void
}

/** The real program as a process of its own, watched. */
export class Target {
  readonly #child: ChildProcess
  #said = ''
  #isEnding = false

  static async start(options: TargetOptions): Promise<Target> {
    const target = new Target(options)
    const ready = once(target.#child, 'message')
    target.#child.send('start')
    await Promise.race([ready, once(target.#child, 'exit')])
    return target
  }

  private constructor({ environment, times, onDeath }: TargetOptions) {
    this.#child = spawn(process.execPath, [HEAP_LIMIT, INSTANCE, JSON.stringify(times)], {
      env: { ...KEEP_COMPILED, PATH: process.env['PATH'], ...environment },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    this.#child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#said = (this.#said + chunk).slice(-MOST_KEPT)
    })
    this.#child.on('error', () => {})
    this.#child.once('exit', (code, signal) => {
      if (!this.#isEnding)
        onDeath(`the service ended with ${code ?? signal}: ${this.#said.slice(-2000)}`)
    })
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** What it said last, but for its log. */
  warnings(): readonly string[] {
    const lines = this.#said.split('\n').slice(0, -1)
    return lines.filter(
      (line) => line !== '' && !line.startsWith('{') && !line.includes('ExperimentalWarning'),
    )
  }

  /** Bytes of memory that it holds; `undefined` where the system does not say. */
  async residentBytes(): Promise<number | undefined> {
    const status = await readFile(`/proc/${this.#child.pid}/status`, 'utf8').catch(() => '')
    const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? []
    return kib === undefined ? undefined : Number(kib) * 1024
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** Ends it as an orchestrator does; resolves to its exit code. */
  async stop(): Promise<number | null> {
    this.#isEnding = true
    if (this.isAlive) {
      const ended = once(this.#child, 'exit')
      this.#child.kill('SIGTERM')
      await ended
    }
    return this.#child.exitCode
  }
}

const HEAP_LIMIT = '--max-old-space-size=256'
const MOST_KEPT = 200_000
const INSTANCE = fileURLToPath(new URL('../crash/instance.ts', import.meta.url))
