import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import { answers, createFolder, findProgram, freePort, runServer } from './local-server.ts'

/** A series of an answer, with its value at that moment. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>
  readonly value: number
}

export interface Prometheus {
  /** What an expression is now; rejects when it is not one. */
  query(expression: string): Promise<readonly Sample[]>
}

/** Prometheus waits for a scrape no longer than for the next; `/metrics` takes up to 2 s. */
export const SCRAPE_MS = 2_500

export interface PrometheusOptions {
  /** Host and port of a service's metrics. */
  readonly target: string
  /** The content of `alertmanagers.yml`. */
  readonly alertmanagers?: string
  readonly opened: AsyncDisposableStack
}

/** Runs the `prometheus` of this machine with the rules of `deploy/`, and sends alerts as it does there. */
export async function startPrometheus(options: PrometheusOptions): Promise<Prometheus> {
  const { target, alertmanagers, opened } = options
  const folder = await createFolder('prometheus')
  opened.defer(() => folder.remove())
  const file = join(folder.path, 'prometheus.yml')
  await writeFile(file, await configuration(target))
  if (alertmanagers !== undefined) {
    await writeFile(join(folder.path, 'alertmanagers.yml'), alertmanagers)
  }
  const address = `127.0.0.1:${await freePort()}`
  const server = await runServer({
    program: await findProgram('prometheus'),
    args: [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder.path, 'series')}`,
      `--web.listen-address=${address}`,
      '--log.level=error',
    ],
    isReady: () => answers(`http://${address}/-/ready`),
    stopSignal: 'SIGKILL',
  })
  opened.defer(() => server.stop())
  return { query: (expression) => query(`http://${address}/api/v1/query`, expression) }
}

async function configuration(target: string): Promise<string> {
  const { alerting } = parse(await readFile('deploy/monitoring/prometheus.yml', 'utf8')) as {
    readonly alerting: object
  }
  return JSON.stringify({
    alerting,
    global: { scrape_interval: `${SCRAPE_MS}ms`, evaluation_interval: '500ms' },
    rule_files: [resolve('deploy/monitoring/alerts.yml')],
    scrape_configs: [{ job_name: 'cloud-repository', static_configs: [{ targets: [target] }] }],
  })
}

interface Answer {
  readonly status: string
  readonly error?: string
  readonly data?: {
    readonly result: readonly { metric: Sample['metric']; value: [number, string] }[]
  }
}

async function query(url: string, expression: string): Promise<readonly Sample[]> {
  const body = new URLSearchParams({ query: expression })
  const reply = await fetch(url, { method: 'POST', body })
  const { status, error, data } = (await reply.json()) as Answer
  if (status !== 'success') throw new Error(`${expression}: ${error}`)
  return (data?.result ?? []).map(({ metric, value }) => ({ metric, value: Number(value[1]) }))
}
