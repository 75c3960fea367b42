import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Which side of an exchange gets lost. */
export type Loss = 'request' | 'answer'

/**
 * An exchange to lose: the first request that contains `request`, after `after` on the same connection if that is
 * given. Its answer contains `request`, too; answers to what was sent before can come after the request.
 */
export interface LossyExchange {
  readonly after?: string
  readonly request: string
  readonly loses: Loss
}

/** What stands between a service and a cluster, as a load balancer on the level of TCP does. */
export interface TcpSwitch {
  readonly port: number
  /**
   * From now on new connections go to these ports of the loopback in turn, to the next that accepts; without any they
   * are refused. Those that are open stay.
   */
  point(ports: readonly number[]): void
  /** From now on new connections wait until the next `point`. */
  hold(): void
  /** Resets every connection. */
  cut(): void
  /** Loses one exchange and says nothing more on its connection. Resolves when the request, or its answer, is lost. */
  lose(exchange: LossyExchange): Promise<void>
  close(): Promise<void>
}

export async function startTcpSwitch(ports: readonly number[]): Promise<TcpSwitch> {
  const connections = new Set<Connection>()
  let targets = Promise.withResolvers<readonly number[]>()
  targets.resolve(ports)
  let turn = 0
  const losses: PendingLoss[] = []

  async function open(client: Socket): Promise<void> {
    client.on('error', () => {})
    const accepting = await firstAccepting(await targets.promise, turn++)
    if (accepting === undefined) return void client.resetAndDestroy()
    const connection = new Connection({ client, server: accepting, losses })
    connections.add(connection)
    client.once('close', () => connections.delete(connection))
  }

  const server = createServer(
    { pauseOnConnect: true, noDelay: true },
    (client) => void open(client),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => connections.forEach((connection) => connection.reset())

  return {
    port: (server.address() as AddressInfo).port,
    point(ports) {
      targets.resolve(ports)
      targets = Promise.withResolvers()
      targets.resolve(ports)
    },
    hold() {
      targets = Promise.withResolvers()
    },
    cut,
    lose(exchange) {
      const lost = Promise.withResolvers<void>()
      losses.push({ ...exchange, onLost: lost.resolve })
      return lost.promise
    },
    async close() {
      targets.resolve([])
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}

interface PendingLoss extends LossyExchange {
  readonly onLost: () => void
}

interface Ends {
  readonly client: Socket
  readonly server: Socket
  /** Shared by all connections: whoever meets one takes it. */
  readonly losses: PendingLoss[]
}

class Connection {
  readonly #ends: Ends
  readonly #met = new Set<PendingLoss>()
  #lost: PendingLoss | undefined

  constructor(ends: Ends) {
    this.#ends = ends
    const { client, server } = ends
    server.on('error', () => {})
    server.once('close', () => client.destroy())
    client.once('close', () => server.destroy())
    client.on('data', (bytes) => {
      if (this.#passes(bytes) && !server.write(bytes)) pauseUntilDrained(client, server)
    })
    server.on('data', (bytes) => {
      if (this.#lost !== undefined) return this.#lose(this.#lost, bytes)
      if (!client.write(bytes)) pauseUntilDrained(server, client)
    })
    client.resume()
  }

  reset(): void {
    this.#ends.client.resetAndDestroy()
    this.#ends.server.resetAndDestroy()
  }

  #lose({ request, onLost }: PendingLoss, bytes: Buffer): void {
    if (bytes.includes(request)) onLost()
  }

  #passes(bytes: Buffer): boolean {
    const { losses } = this.#ends
    // Both may come in one piece.
    const lost = losses.find((loss) => {
      const from = this.#met.has(loss) ? 0 : bytes.indexOf(loss.after ?? '')
      return from >= 0 && bytes.includes(loss.request, from)
    })
    for (const loss of losses) if (bytes.includes(loss.after ?? '')) this.#met.add(loss)
    if (lost === undefined) return this.#lost === undefined
    losses.splice(losses.indexOf(lost), 1)
    this.#lost = lost
    if (lost.loses === 'request') lost.onLost()
    return lost.loses === 'answer'
  }
}

function pauseUntilDrained(from: Socket, to: Socket): void {
  from.pause()
  to.once('drain', () => from.resume())
}

async function firstAccepting(ports: readonly number[], turn: number): Promise<Socket | undefined> {
  for (let tries = 0; tries < ports.length; tries++) {
    const port = ports[(turn + tries) % ports.length]
    const socket = connect({ host: '127.0.0.1', port: port ?? 0, noDelay: true })
    const accepted = await once(socket, 'connect').catch(() => undefined)
    if (accepted !== undefined) return socket
    socket.destroy()
  }
  return undefined
}
