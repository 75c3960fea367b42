import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { type FromWorker, tell, WORKER_MARK } from './messages.ts'
import { Scraper } from './scraper.ts'

export interface SupervisorOptions {
  readonly workers: number
  /** Where the workers will listen. */
  readonly addresses: readonly Address[]
  readonly logger: FastifyBaseLogger
  /** Resolves to the signal that ends the service. */
  readonly stopped: Promise<NodeJS.Signals>
  readonly printError: (text: string) => void
}

export interface Address {
  readonly host: string
  readonly port: number
}

/**
 * Runs this program in `workers` processes, which share its listeners, and replaces each one that ends. Resolves to
 * the exit code when all have ended: after `stopped`, since all get this signal, or if one fails to start while none
 * serves.
 */
export async function superviseWorkers(options: SupervisorOptions): Promise<number> {
  if (cluster.isWorker) {
    throw new Error(
      'WORKERS: must be 1 under a process manager that uses the module cluster of Node.js itself.',
    )
  }
  for (const address of options.addresses) await assertFree(address)
  return await new Supervisor(options).run()
}

/** Workers share their ports, and would also share them with another service that does so. */
async function assertFree({ host, port }: Address): Promise<void> {
  const server = createServer().listen({ host, port })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}

interface Supervised {
  readonly worker: Worker
  /** A worker `starts` until it has opened the database and the store; then it waits until all may listen. */
  phase: 'starts' | 'waits' | 'listens' | 'serves'
  /** By `performance.now()`. */
  servesSince: number
  failure: string | undefined
}

interface Ended {
  readonly code: number | null
  readonly signal: string | null
}

class Supervisor {
  readonly #options: SupervisorOptions
  readonly #running = new Map<number, Supervised>()
  readonly #replacements = new Set<NodeJS.Timeout>()
  readonly #scraper: Scraper
  readonly #allEnded = Promise.withResolvers<void>()
  #mayListen = false
  #isReady = false
  #isStopping = false
  #exitCode = 0
  #earlyEnds = 0

  constructor(options: SupervisorOptions) {
    this.#options = options
    const serving = (): readonly Worker[] =>
      [...this.#running.values()].filter(serves).map(({ worker }) => worker)
    this.#scraper = new Scraper({ ...options, serving })
  }

  async run(): Promise<number> {
    // JSON would turn the NaN of a metric into null.
    cluster.setupPrimary({ serialization: 'advanced' })
    cluster.on('message', (worker, message: FromWorker) => this.#receive(worker, message))
    cluster.on('exit', (worker, code: number | null, signal: string | null) => {
      const end = (): void => this.#end(worker, { code, signal })
      // Until then, its last messages can still arrive.
      if (worker.isConnected()) worker.once('disconnect', end)
      else end()
    })
    void this.#options.stopped.then((signal) => this.#stop(signal))
    // The first one migrates the database, and reports faults that all would have.
    this.#fork()
    await this.#allEnded.promise
    return this.#exitCode
  }

  #fork(): void {
    // The number is resolved once, so that all workers divide the limits by the same one.
    const worker = cluster.fork({
      WORKERS: this.#options.workers,
      WORKERS_FILE: '',
      [WORKER_MARK]: '1',
    })
    this.#running.set(worker.id, {
      worker,
      phase: 'starts',
      servesSince: Infinity,
      failure: undefined,
    })
    worker.on('error', (err) => {
      this.#options.logger.error({ err, worker: worker.id }, 'worker failed')
      // It was never started, so it will not exit.
      if (worker.process.pid === undefined) this.#end(worker, { code: 1, signal: null })
    })
  }

  #receive(worker: Worker, message: FromWorker): void {
    const supervised = this.#running.get(worker.id)
    if (supervised === undefined) return
    if (message.type === 'opened') {
      supervised.phase = 'waits'
      if (!this.#isStopping) this.#letListen()
    } else if (message.type === 'failed') {
      supervised.failure = message.reason
    } else if (message.type === 'serving') {
      supervised.phase = 'serves'
      supervised.servesSince = performance.now()
      this.#options.logger.info(
        { worker: worker.id, worker_pid: worker.process.pid },
        'worker serves',
      )
      this.#tellReady()
    } else if (message.type === 'snapshot') {
      this.#scraper.take(worker.id, message.snapshot)
    } else {
      void this.#scrape(worker, message.id)
    }
  }

  async #scrape(worker: Worker, id: number): Promise<void> {
    const text = await this.#scraper.scrape().catch((err: unknown) => {
      this.#options.logger.error({ err }, 'adding the metrics of the workers failed')
      return undefined
    })
    tell(worker, { type: 'scraped', id, text })
  }

  /** At the start, only when all have opened: a worker that cannot do so ends the service before it has clients. */
  #letListen(): void {
    const { workers } = this.#options
    if (!this.#mayListen) {
      while (this.#running.size < workers) this.#fork()
      const running = [...this.#running.values()]
      this.#mayListen = running.every(({ phase }) => phase === 'waits')
    }
    if (!this.#mayListen) return
    for (const supervised of this.#running.values()) {
      if (supervised.phase !== 'waits') continue
      supervised.phase = 'listens'
      tell(supervised.worker, { type: 'listen' })
    }
  }

  /** A worker that ends later leaves the others ready. */
  #tellReady(): void {
    this.#isReady ||= [...this.#running.values()].every(serves)
    if (!this.#isReady) return
    for (const { worker } of this.#running.values()) tell(worker, { type: 'allServe' })
  }

  #end(worker: Worker, ended: Ended): void {
    const supervised = this.#running.get(worker.id)
    if (supervised === undefined) return
    this.#running.delete(worker.id)
    this.#scraper.end(worker.id)
    const canReplace = serves(supervised) || [...this.#running.values()].some(serves)
    if (this.#isStopping) this.#fail(supervised, exitCodeOf(ended))
    else if (canReplace) this.#replace(supervised, ended)
    else this.#giveUp(supervised, ended)
    if (this.#isStopping && this.#running.size === 0) this.#allEnded.resolve()
  }

  /** A replacement would fail in the same way. The exit code tells the service manager that the service has failed. */
  #giveUp(supervised: Supervised, ended: Ended): void {
    const { worker, failure } = supervised
    const line = { worker: worker.id, ...ended }
    if (failure === undefined) this.#options.logger.fatal(line, 'worker could not start')
    this.#fail(supervised, exitCodeOf(ended) || 1)
    this.#stop('SIGTERM')
  }

  /** Only the first failure counts: others are often the same, or follow from it. */
  #fail({ failure }: Supervised, exitCode: number): void {
    if (this.#exitCode !== 0) return
    this.#exitCode = exitCode
    if (failure !== undefined) this.#options.printError(failure)
  }

  #replace({ worker, servesSince, failure }: Supervised, ended: Ended): void {
    const { logger } = this.#options
    const line = { worker: worker.id, worker_pid: worker.process.pid, ...ended, failure }
    const isEarly = performance.now() - servesSince < EARLY_MS
    this.#earlyEnds = isEarly ? this.#earlyEnds + 1 : 0
    const delayMs = replacementDelayMs(this.#earlyEnds)
    logger.error({ ...line, delay_ms: delayMs }, 'worker ended; replacing it')
    this.#forkAfter(delayMs)
  }

  #forkAfter(delayMs: number): void {
    const timer = setTimeout(() => {
      this.#replacements.delete(timer)
      try {
        this.#fork()
      } catch (err) {
        // The system's lack of memory, unlike that of processes, is not reported by an event of the worker.
        this.#options.logger.error({ err }, 'worker failed')
        this.#earlyEnds += 1
        this.#forkAfter(replacementDelayMs(this.#earlyEnds))
      }
    }, delayMs)
    this.#replacements.add(timer)
  }

  #stop(signal: NodeJS.Signals): void {
    this.#isStopping = true
    for (const timer of this.#replacements) clearTimeout(timer)
    for (const { worker } of this.#running.values()) worker.process.kill(signal)
    if (this.#running.size === 0) this.#allEnded.resolve()
  }
}

const serves = ({ phase }: Supervised): boolean => phase === 'serves'

/** 128 + 15, as shells report it, would hide that the service was asked to end. */
function exitCodeOf({ code, signal }: Ended): number {
  if (signal !== null) return signal === 'SIGTERM' || signal === 'SIGINT' ? 0 : 1
  return code ?? 1
}

const EARLY_MS = 10_000

/** How long to wait after that many consecutive workers ended within 10 s of serving: 0, 1, 2, 4 ... 30 s. */
export function replacementDelayMs(earlyEnds: number): number {
  return earlyEnds === 0 ? 0 : Math.min(30_000, 500 * 2 ** earlyEnds)
}
