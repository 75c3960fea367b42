import { setTimeout as delay } from 'node:timers/promises'
import { exitOf, type Started, startProgram } from '../support/service/program.ts'
import type { PodSpec, Probe } from './workload.ts'

export interface PodOptions {
  readonly spec: PodSpec
  readonly environment: Readonly<Record<string, string>>
  readonly host: string
  readonly port: number
  readonly onReady: (isReady: boolean) => void
  readonly opened: AsyncDisposableStack
}

/** A process of the service in place of a pod. It is probed and stopped as a kubelet does by the spec. */
export class Pod {
  readonly host: string
  readonly #options: PodOptions
  readonly #started: Started
  #isStopping = false

  /** Resolves when the pod is ready for the first time. */
  static async start(options: PodOptions): Promise<Pod> {
    const { environment, host, port, opened } = options
    const address = { HOST: host, METRICS_HOST: host, PORT: String(port), METRICS_PORT: '0' }
    const started = await startProgram({
      args: ['serve'],
      environment: { ...environment, ...address },
      opened,
    })
    const pod = new Pod(options, started)
    const { startupProbe, readinessProbe } = options.spec.containers[0]
    for (let failures = 0; !(await pod.#passes(startupProbe)); failures++) {
      if (failures === startupProbe.failureThreshold) throw new Error('the pod does not start')
      await delay(startupProbe.periodSeconds * 1000)
    }
    while (!(await pod.#passes(readinessProbe))) await delay(readinessProbe.periodSeconds * 1000)
    options.onReady(true)
    void pod.#watch(readinessProbe)
    return pod
  }

  private constructor(options: PodOptions, started: Started) {
    this.host = options.host
    this.#options = options
    this.#started = started
  }

  /** Runs the preStop hook, sends SIGTERM, and SIGKILL when the grace is over. Resolves to the exit code. */
  async stop(): Promise<number | null> {
    const { containers, terminationGracePeriodSeconds = 30 } = this.#options.spec
    const { process } = this.#started
    this.#isStopping = true
    const timer = setTimeout(() => process.kill('SIGKILL'), terminationGracePeriodSeconds * 1000)
    await delay(containers[0].lifecycle.preStop.sleep.seconds * 1000)
    process.kill('SIGTERM')
    const code = await exitOf(process)
    clearTimeout(timer)
    return code
  }

  async #watch(probe: Probe): Promise<void> {
    for (let failures = 0; !this.#isStopping;) {
      await delay(probe.periodSeconds * 1000, undefined, { ref: false })
      failures = (await this.#passes(probe)) ? 0 : failures + 1
      if (!this.#isStopping && failures === 0) this.#options.onReady(true)
      if (!this.#isStopping && failures === probe.failureThreshold) this.#options.onReady(false)
    }
  }

  async #passes({ httpGet, timeoutSeconds }: Probe): Promise<boolean> {
    const url = `http://${this.host}:${this.#options.port}${httpGet.path}`
    const signal = AbortSignal.timeout(timeoutSeconds * 1000)
    // A kubelet keeps no connection.
    const headers = { connection: 'close' }
    const answer = await fetch(url, { headers, signal }).catch(() => undefined)
    await answer?.body?.cancel()
    return answer?.ok === true
  }
}
