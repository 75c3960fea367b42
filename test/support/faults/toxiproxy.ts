import { randomUUID } from 'node:crypto'
import { answers, findProgram, freePort, runServer } from '../servers/local-server.ts'

export interface Toxiproxy {
  /** Where it is told what to do. */
  readonly api: string
  stop(): Promise<void>
}

/** Runs the `toxiproxy-server` of this machine, or says what is missing. */
export async function startToxiproxy(): Promise<Toxiproxy | { readonly unavailable: string }> {
  try {
    const program = await findProgram('toxiproxy-server')
    const port = await freePort()
    const api = `http://127.0.0.1:${port}`
    const server = await runServer({
      program,
      args: ['-host', '127.0.0.1', '-port', String(port)],
      isReady: () => answers(`${api}/version`),
      stopSignal: 'SIGTERM',
    })
    return { api, stop: () => server.stop() }
  } catch (error) {
    return {
      unavailable: `No Toxiproxy: ${error instanceof Error ? error.message : String(error)}`,
    }
  }
}

/** What Toxiproxy does to the bytes of every connection; without a stream to those of both directions. */
export interface Toxic {
  readonly type:
    | 'latency'
    | 'bandwidth'
    | 'slow_close'
    | 'timeout'
    | 'reset_peer'
    | 'slicer'
    | 'limit_data'
    | 'down'
  /** `upstream` is from the service to its part. */
  readonly stream?: 'upstream' | 'downstream'
  readonly attributes?: Readonly<Record<string, number>>
}

/** A way to one server that can be disturbed. */
export interface Proxy {
  /** Where it listens. */
  readonly host: string
  /** Guarantees that all connections, those that are open too, are disturbed so when it resolves. */
  disturb(toxic: Toxic): Promise<void>
  /** Ends every disturbance. */
  heal(): Promise<void>
  remove(): Promise<void>
}

/** Stands before the server at `host:port`. */
export async function openProxy(api: string, upstream: string): Promise<Proxy> {
  const name = randomUUID()
  const host = `127.0.0.1:${await freePort()}`
  await ask(`${api}/proxies`, { name, listen: host, upstream, enabled: true })
  const proxy = `${api}/proxies/${name}`
  const added: string[] = []

  async function disturb({ type, stream, attributes = {} }: Toxic): Promise<void> {
    if (type === 'down') return ask(proxy, { enabled: false })
    for (const direction of stream === undefined ? ['upstream', 'downstream'] : [stream]) {
      const toxic = `${type}-${direction}`
      await ask(`${proxy}/toxics`, { name: toxic, type, stream: direction, attributes })
      added.push(toxic)
    }
  }

  async function heal(): Promise<void> {
    for (const toxic of added.splice(0)) await ask(`${proxy}/toxics/${toxic}`)
    await ask(proxy, { enabled: true })
  }

  return { host, disturb, heal, remove: () => ask(proxy) }
}

/** Posts a body, or deletes what is there. */
async function ask(url: string, body?: object): Promise<void> {
  const init =
    body === undefined ? { method: 'DELETE' } : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(url, init)
  const text = await response.text()
  if (!response.ok) throw new Error(`${init.method} ${url}: ${response.status} ${text}`)
}
