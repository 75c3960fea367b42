import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setImmediate, setTimeout as delay } from 'node:timers/promises'

/** From the client to the server, or back. */
export type Way = 'request' | 'answer'

/** How a side learns that its connection is broken: after all that was sent to it, or at once and without the rest. */
export type Ending = 'fin' | 'rst'

/** Ends a connection as soon as more than `bytes` come on one way. */
export interface Break {
  readonly kind: 'break'
  readonly bytes: number
  readonly client: Ending
  readonly server: Ending
  /** The client learns it at once, and may be back before the server knows; else after the server. */
  readonly isClientFirst: boolean
  /** Whether nothing of the piece with the first byte too many arrives. */
  readonly dropsPiece: boolean
}

/** What happens to the bytes of one way. */
type ByteFault =
  /** They arrive that much later, also when their sender has gone meanwhile. */
  | { readonly kind: 'delay'; readonly ms: number; readonly jitterMs: number }
  | { readonly kind: 'throttle'; readonly bytesPerSecond: number }
  /** They arrive in pieces of at most that size. */
  | { readonly kind: 'slice'; readonly bytes: number }
  | { readonly kind: 'end late'; readonly ms: number }
  /** They never arrive, and the connection stays open. The end of the fault resets it. */
  | { readonly kind: 'swallow' }
  | Break

/** `reset` ends open connections and new ones, `off` also accepts none. Both concern both ways. */
export type Fault = ByteFault | { readonly kind: 'reset' } | { readonly kind: 'off' }

type FaultsByWay = Readonly<Record<Way, readonly ByteFault[]>>

/**
 * An exchange to lose: the first request that contains `request`, after `after` on the same connection if that is
 * given. Its answer contains `request`, too; answers to what was sent before can come after the request.
 */
export interface LossyExchange {
  readonly after?: string
  readonly request: string
  readonly loses: Way
}

/** Changes the pieces of one connection. An answer that becomes `undefined` is the last that its client hears. */
export interface Changes {
  readonly request?: (bytes: Buffer) => Buffer
  readonly answer?: (bytes: Buffer) => Buffer | undefined
}

export interface TcpProxyOptions {
  /** Of the servers behind it, on the loopback. See `point`. */
  readonly ports: readonly number[]
  /** What happens to a new connection, beside what `disturb` does. */
  readonly faultsOf?: () => FaultsByWay
  readonly changesOf?: () => Changes
}

/** Stands between clients and servers, as a load balancer on the level of TCP does. */
export interface TcpProxy {
  readonly port: number
  readonly url: string
  /** The breaks that happened, in order, and on which way the first byte too many came. */
  readonly breaks: readonly (Break & { readonly during: Way })[]
  /**
   * From now on new connections go to these ports in turn, to the next that accepts; without any they are reset. Those
   * that are open stay.
   */
  point(ports: readonly number[]): void
  /** From now on new connections wait until the next `point`. */
  hold(): void
  /** Resets every connection. */
  cut(): void
  /** Loses one exchange and says nothing more on its connection. Resolves when the request, or its answer, is lost. */
  lose(exchange: LossyExchange): Promise<void>
  /** Has a fault happen, on this way or on both, to all connections, open ones too, until `heal`. */
  disturb(fault: Fault, way?: Way): Promise<void>
  /** Ends all that `disturb` has begun. */
  heal(): Promise<void>
  stop(): Promise<void>
}

export async function startTcpProxy(options: TcpProxyOptions): Promise<TcpProxy> {
  const { faultsOf = () => NO_FAULTS, changesOf = () => ({}) } = options
  const connections = new Set<Connection>()
  const shared: Shared = {
    losses: [],
    breaks: [],
    faults: NO_FAULTS,
    healed: new AbortController(),
  }
  let targets = Promise.withResolvers<readonly number[]>()
  targets.resolve(options.ports)
  let turn = 0
  let isResetting = false

  async function open(client: Socket): Promise<void> {
    client.on('error', () => {})
    const server = await firstAccepting(await targets.promise, turn++)
    if (server === undefined || isResetting) return void client.resetAndDestroy()
    const [faults, changes] = [faultsOf(), changesOf()]
    const connection = new Connection({ client, server, shared, faults, changes })
    connections.add(connection)
    client.once('close', () => connections.delete(connection))
  }

  const server = createServer(
    { pauseOnConnect: true, noDelay: true, allowHalfOpen: true },
    (client) => void open(client),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const cut = (): void => connections.forEach((connection) => connection.reset())
  async function close(): Promise<void> {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    isResetting = true
    cut()
    await closed
  }

  return {
    port,
    url: `http://127.0.0.1:${port}`,
    breaks: shared.breaks,
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
      shared.losses.push({ ...exchange, onLost: lost.resolve })
      return lost.promise
    },
    async disturb(fault, way) {
      if (fault.kind === 'off') return await close()
      if (fault.kind === 'reset') {
        isResetting = true
        return cut()
      }
      const { request, answer } = shared.faults
      shared.faults = {
        request: way === 'answer' ? request : [...request, fault],
        answer: way === 'request' ? answer : [...answer, fault],
      }
    },
    async heal() {
      const isSwallowing = Object.values(shared.faults)
        .flat()
        .some(({ kind }) => kind === 'swallow')
      isResetting = false
      shared.faults = NO_FAULTS
      shared.healed.abort()
      shared.healed = new AbortController()
      if (isSwallowing) cut()
      if (server.listening) return
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
    async stop() {
      targets.resolve([])
      await close()
    },
  }
}

const NO_FAULTS: FaultsByWay = { request: [], answer: [] }

interface PendingLoss extends LossyExchange {
  readonly onLost: () => void
}

/** What all connections of a proxy have in common. */
interface Shared {
  /** Whoever meets one takes it. */
  readonly losses: PendingLoss[]
  readonly breaks: (Break & { readonly during: Way })[]
  faults: FaultsByWay
  /** Aborts when the faults end. */
  healed: AbortController
}

interface Ends {
  readonly client: Socket
  readonly server: Socket
  readonly shared: Shared
  readonly faults: FaultsByWay
  readonly changes: Changes
}

class Connection {
  readonly #ends: Ends
  readonly #met = new Set<PendingLoss>()
  #lost: PendingLoss | undefined
  isBroken = false

  constructor(ends: Ends) {
    this.#ends = ends
    const { client, server } = ends
    server.on('error', () => {})
    new Lane(this, { way: 'request', from: client, to: server }).open()
    new Lane(this, { way: 'answer', from: server, to: client }).open()
  }

  reset(): void {
    this.#ends.client.resetAndDestroy()
    this.#ends.server.resetAndDestroy()
  }

  faultsOn(way: Way): readonly ByteFault[] {
    const { shared, faults } = this.#ends
    return [...faults[way], ...shared.faults[way]]
  }

  /** Resolves after that time, or when the faults end. */
  async wait(ms: number): Promise<void> {
    const { signal } = this.#ends.shared.healed
    if (ms > 0) await delay(ms, undefined, { signal }).catch(() => {})
  }

  /** What becomes of a piece; `undefined` where nothing is to follow it either. */
  change(way: Way, bytes: Buffer): Buffer | undefined {
    const { changes } = this.#ends
    if (way === 'request' && !this.#passes(bytes)) return NOTHING
    if (way === 'answer' && this.#lost !== undefined) {
      if (bytes.includes(this.#lost.request)) this.#lost.onLost()
      return NOTHING
    }
    const change = changes[way]
    return change === undefined ? bytes : change(bytes)
  }

  break(fault: Break, during: Way): void {
    const { client, server, shared } = this.#ends
    this.isBroken = true
    shared.breaks.push({ ...fault, during })
    // Whatever still comes is read and dropped.
    client.resume()
    server.resume()
    if (fault.isClientFirst) endWith(client, fault.client)
    else server.once('close', () => endWith(client, fault.client))
    endWith(server, fault.server)
  }

  #passes(bytes: Buffer): boolean {
    const { losses } = this.#ends.shared
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

interface LaneOptions {
  readonly way: Way
  readonly from: Socket
  readonly to: Socket
}

/** Takes the bytes of one way from one socket to the other, in order. */
class Lane {
  readonly #connection: Connection
  readonly #options: LaneOptions
  /** Settles when all that has come is passed on. */
  #last: Promise<void> = Promise.resolve()
  #waiting = 0
  /** Bytes since each fault was first met. */
  readonly #passed = new Map<Break, number>()
  #isSilent = false

  constructor(connection: Connection, options: LaneOptions) {
    this.#connection = connection
    this.#options = options
  }

  open(): void {
    const { from, to } = this.#options
    from.on('data', (bytes: Buffer) => this.#take(bytes))
    from.once('end', () => this.#then(() => this.#end()))
    from.once('close', () => this.#then(() => void (this.#isOver() || to.destroySoon())))
    from.resume()
  }

  #isOver(): boolean {
    return this.#isSilent || this.#connection.isBroken
  }

  #then(work: () => void | Promise<void>): void {
    this.#last = this.#last.then(work)
  }

  #take(bytes: Buffer): void {
    const { from, way } = this.#options
    const at = performance.now()
    this.#waiting += bytes.length
    const isDelayed = this.#connection.faultsOn(way).some(({ kind }) => kind === 'delay')
    if (this.#waiting > (isDelayed ? MOST_DELAYED_BYTES : MOST_WAITING_BYTES)) from.pause()
    this.#then(async () => {
      await this.#pass(bytes, at)
      this.#waiting -= bytes.length
      if (this.#waiting <= MOST_WAITING_BYTES) from.resume()
    })
  }

  async #pass(came: Buffer, at: number): Promise<void> {
    const { way, from, to } = this.#options
    if (this.#isOver()) return
    const bytes = this.#connection.change(way, came)
    if (bytes === undefined) return void (this.#isSilent = true)
    // As a kernel does with bytes for a closed socket. A client that is left waiting would never send them all.
    if (to.destroyed) return void from.resetAndDestroy()
    let size = bytes.length
    for (const fault of this.#connection.faultsOn(way)) {
      if (fault.kind === 'swallow') return
      if (fault.kind === 'delay') {
        const late = fault.ms + Math.random() * fault.jitterMs
        await this.#connection.wait(at + late - performance.now())
      }
      if (fault.kind === 'throttle') {
        await this.#connection.wait((bytes.length / fault.bytesPerSecond) * 1000)
      }
      if (fault.kind === 'slice') size = fault.bytes
      if (fault.kind === 'break' && !this.#fits(fault, bytes)) return
    }
    for (let from = 0; from < bytes.length; from += size) {
      if (from > 0) await setImmediate()
      await this.#write(bytes.subarray(from, from + size))
    }
  }

  /** Whether the bytes may pass, or else the connection is broken. */
  #fits(fault: Break, bytes: Buffer): boolean {
    const { way, to } = this.#options
    const passed = this.#passed.get(fault) ?? 0
    this.#passed.set(fault, passed + bytes.length)
    if (passed + bytes.length <= fault.bytes) return true
    if (!fault.dropsPiece) to.write(bytes.subarray(0, fault.bytes - passed))
    this.#connection.break(fault, way)
    return false
  }

  async #write(bytes: Buffer): Promise<void> {
    const { to } = this.#options
    if (this.#isOver() || to.write(bytes)) return
    const done = new AbortController()
    const { signal } = done
    const events = ['drain', 'close'].map((event) => once(to, event, { signal }).catch(() => {}))
    await Promise.race(events)
    done.abort()
  }

  async #end(): Promise<void> {
    for (const fault of this.#connection.faultsOn(this.#options.way)) {
      if (fault.kind === 'end late') await this.#connection.wait(fault.ms)
    }
    if (!this.#isOver()) this.#options.to.end()
  }
}

const NOTHING = Buffer.alloc(0)
const MOST_WAITING_BYTES = 2 ** 20
const MOST_DELAYED_BYTES = 2 ** 26

function endWith(socket: Socket, ending: Ending): void {
  if (ending === 'rst') socket.resetAndDestroy()
  else {
    socket.end()
    // As the kernel does for a closed socket: a client that only sends would never notice its end.
    const reset = setTimeout(() => socket.resetAndDestroy(), 5_000)
    socket.once('close', () => clearTimeout(reset))
  }
}

async function firstAccepting(ports: readonly number[], turn: number): Promise<Socket | undefined> {
  for (let tries = 0; tries < ports.length; tries++) {
    const port = ports[(turn + tries) % ports.length] ?? 0
    const socket = connect({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen: true })
    const accepted = await once(socket, 'connect').catch(() => undefined)
    if (accepted !== undefined) return socket
    socket.destroy()
  }
  return undefined
}
