import { Worker } from 'node:worker_threads'
import { fastify } from 'fastify'
import { readConfig } from '../../../src/config/config.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { serve } from '../../../src/serve.ts'
import { openService, type Service } from '../../../src/compose/compose.ts'

/** How long requests are measured, beside a sweep and beside none, in turns. */
const WINDOW_MS = 3_000

/** Says how the requests of one client do beside a sweep of the same instance, against the same without one. */
export async function compareForeground(options: {
  /** Settings of the service, with much that is to be swept. */
  readonly environment: NodeJS.ProcessEnv
  readonly rounds: number
}): Promise<string> {
  const config = readConfig({ ...options.environment, PORT: '0' })
  const service = await openService(config)
  const server = await serve({ config, service, logger: fastify().log })
  try {
    const client = await startClient(service, server.url)
    await client.measure()
    const [alone, beside]: [number[], number[]] = [[], []]
    let removed = 0
    for (let round = 0; round < options.rounds; round++) {
      alone.push(...(await client.measure()))
      const stop = new AbortController()
      const sweep = service.sweeper.sweep({
        signal: stop.signal,
        onProgress: () => (removed += 1),
      })
      beside.push(...(await client.measure()))
      stop.abort()
      await sweep.catch(() => undefined)
    }
    await client.stop()
    const [few, many] = [summary(alone), summary(beside)]
    const ratios = `${(many.p50 / few.p50).toFixed(2)} and ${(many.p99 / few.p99).toFixed(2)}`
    return (
      `p50 and p99 of a client alone ${few.p50.toFixed(2)}, ${few.p99.toFixed(2)} ms, beside a sweep ` +
      `${many.p50.toFixed(2)}, ${many.p99.toFixed(2)} ms; ratios ${ratios}; about ${removed} removals`
    )
  } finally {
    await server.stop()
    await service.close()
  }
}

function summary(times: readonly number[]): { readonly p50: number; readonly p99: number } {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

/** A thread, so that it does not wait for what it measures. */
async function startClient(service: Service, url: string) {
  const userId = parseUserId('foreground')
  await service.users.create(userId)
  const terms = { userId, label: '', expiresInSeconds: undefined }
  const { secret } = await service.accessTokens.issue(terms)
  const worker = new Worker(CLIENT, { eval: true, workerData: { url, secret } })
  return {
    async measure(): Promise<number[]> {
      worker.postMessage(WINDOW_MS, [])
      return await new Promise((resolve) => worker.once('message', resolve))
    },
    stop: () => worker.terminate(),
  }
}

/** Uploads a small file, reads it back and lists, over and over; answers with the milliseconds of each request. */
const CLIENT = `
const { parentPort, workerData: { url, secret } } = require('node:worker_threads')
const headers = { cookie: 'access_token=' + secret }
const requests = [
  ['PUT', '/users/me/repo/a', Buffer.alloc(1000)],
  ['GET', '/users/me/repo/a', undefined],
  ['GET', '/users/me/repo', undefined],
]
parentPort.on('message', async (ms) => {
  const times = []
  const endsAt = performance.now() + ms
  while (performance.now() < endsAt) {
    for (const [method, path, body] of requests) {
      const started = performance.now()
      const reply = await fetch(url + path, { method, headers, body })
      await reply.arrayBuffer()
      if (reply.status !== 200) throw new Error('answered ' + reply.status)
      times.push(performance.now() - started)
    }
  }
  parentPort.postMessage(times)
})
`
