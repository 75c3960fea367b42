import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { InstanceTimes } from './instance.ts'
import type { Completion, Moment } from './resumable/moments.ts'
import type { World } from './world.ts'
import { freePort } from '../../support/servers/local-server.ts'
import { KEEP_COMPILED } from '../../support/service/compiled.ts'

interface InstanceOptions {
  readonly environment: Readonly<Record<string, string>>
  readonly times: InstanceTimes
  readonly onDeath: (reason: string) => void
}

/** One instance after the other on one port. The next one waits, loaded, for the one before it to die. */
export class Instance {
  readonly port: number
  readonly #options: InstanceOptions
  #current: ChildProcess
  #next: ChildProcess
  readonly #completing = new Set<string>()
  #isUp = false
  #isEnding = false

  /** On a free port. `onDeath` is told what it said last when it ended although nobody ended it. */
  static async start(
    { environment, times }: Pick<World, 'environment' | 'times'>,
    onDeath: (reason: string) => void,
  ): Promise<Instance> {
    const port = String(await freePort())
    const instance = new Instance({ environment: { ...environment, PORT: port }, times, onDeath })
    await instance.#serve()
    return instance
  }

  private constructor(options: InstanceOptions) {
    this.#options = options
    this.port = Number(options.environment['PORT'])
    this.#current = this.#spawn()
    this.#next = this.#spawn()
  }

  get isUp(): boolean {
    return this.#isUp
  }

  /** Whether one that is dead was making this upload's object when it died, or the living one is. */
  isCompleting(uploadId: string): boolean {
    return [...this.#completing].some((key) => key.endsWith(uploadId))
  }

  /** Kills it, at once or by filling its heap, and resolves when its successor serves. */
  async kill(how: 'SIGKILL' | 'full heap' = 'SIGKILL'): Promise<void> {
    this.#isUp = false
    const dead = this.#current
    this.#current = this.#next
    this.#next = this.#spawn()
    dead.removeAllListeners('exit')
    if (how === 'SIGKILL') dead.kill(how)
    else dead.send('exhaust')
    // Two processes never serve one port, nor hold one SQLite file's lock in turns.
    await exitOf(dead)
    await this.#serve()
  }

  /** Has it end itself at this moment; whether it did so in time. `kill` starts its successor in any case. */
  async diesAt(moment: Moment, timeoutMs: number): Promise<boolean> {
    const dying = this.#current
    dying.removeAllListeners('exit')
    const exit = exitOf(dying).then(() => {
      if (dying === this.#current) this.#isUp = false
      return true
    })
    dying.send({ dieAt: moment })
    const late = delay(timeoutMs, false, { ref: false })
    return await Promise.race([exit, late])
  }

  /** Stops it in its tracks, as a machine that is suspended, until `resume`. */
  pause(): void {
    this.#isUp = false
    this.#current.kill('SIGSTOP')
  }

  resume(): void {
    this.#current.kill('SIGCONT')
    this.#isUp = true
  }

  /** Ends it as an orchestrator does; resolves to its exit code. */
  async stop(): Promise<number | null> {
    this.#isEnding = true
    this.#isUp = false
    this.#next.removeAllListeners('exit')
    this.#next.kill('SIGKILL')
    this.#current.removeAllListeners('exit')
    this.#current.kill('SIGTERM')
    await Promise.all([exitOf(this.#current), exitOf(this.#next)])
    return this.#current.exitCode
  }

  async #serve(): Promise<void> {
    const started = this.#current
    const ready = once(started, 'message')
    started.send('start')
    await Promise.race([ready, exitOf(started)])
    if (started.exitCode === null && started.signalCode === null) this.#isUp = !this.#isEnding
  }

  #spawn(): ChildProcess {
    const { environment, times, onDeath } = this.#options
    const child = spawn(process.execPath, [HEAP_LIMIT, INSTANCE, JSON.stringify(times)], {
      env: { ...KEEP_COMPILED, PATH: process.env['PATH'], ...environment },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    let said = ''
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      said = (said + chunk).slice(-2000)
    })
    child.once('exit', (code, signal) => onDeath(`ended with ${code ?? signal}: ${said}`))
    child.on('message', (message: Completion | { readonly url: string }) => {
      if (!('completing' in message)) return
      if (message.isOver) this.#completing.delete(message.completing)
      else this.#completing.add(message.completing)
    })
    // It can have died before it is told to start.
    child.on('error', () => {})
    return child
  }
}

export type Instances = readonly [Instance, ...Instance[]]

/** So many, which end with `opened`. One that dies by itself ends the process, or fails the test. */
export async function startInstances(
  world: World,
  { count, opened }: { readonly count: number; readonly opened: AsyncDisposableStack },
): Promise<Instances> {
  const onDeath = (reason: string): never => {
    throw new Error(`An instance died of itself: ${reason}`)
  }
  const starts = Array.from({ length: count }, async () => {
    const instance = await Instance.start(world, onDeath)
    opened.defer(async () => void (await instance.stop()))
    return instance
  })
  const [first, ...others] = await Promise.all(starts)
  if (first === undefined) throw new TypeError('A run has an instance')
  return [first, ...others]
}

/** Several times what it needs, and soon full. */
const HEAP_LIMIT = '--max-old-space-size=128'

const INSTANCE = fileURLToPath(new URL('instance.ts', import.meta.url))

async function exitOf(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
