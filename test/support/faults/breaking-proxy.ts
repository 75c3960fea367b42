import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { createRandom, type Random } from '../../proofs/simulation/plan/random.ts'

/** How a side learns that its connection is broken: after all that was sent to it, or at once and without the rest. */
export type Ending = 'fin' | 'rst'

/** When and how one connection breaks: as soon as more bytes come from either side. */
export interface BreakPlan {
  readonly requestBytes: number
  readonly answerBytes: number
  readonly client: Ending
  readonly service: Ending
  /** The client learns it at once, and may be back before the service knows; else after the service. */
  readonly isClientFirst: boolean
}

export interface Break extends BreakPlan {
  /** Where the first byte too many came from. */
  readonly during: 'request' | 'answer'
}

/** What a client was told by a HEAD. */
export interface ToldOffset {
  /** The header, which has the name of the file. */
  readonly metadata: string
  readonly offset: number
}

export interface BreakingProxy {
  readonly url: string
  /** Those that happened, in order. */
  readonly breaks: readonly Break[]
  readonly told: readonly ToldOffset[]
  stop(): Promise<void>
}

/** A TCP proxy in front of the service on `port`. It breaks each connection, as the seed has it. */
export async function startBreakingProxy(options: {
  readonly port: number
  readonly seed: number
}): Promise<BreakingProxy> {
  const random = createRandom(options.seed)
  const breaks: Break[] = []
  const told: ToldOffset[] = []
  const open = new Set<Socket>()
  const server = createServer({ noDelay: true }, (client) => {
    const service = connect({ host: '127.0.0.1', port: options.port, noDelay: true })
    for (const socket of [client, service]) {
      open.add(socket)
      socket.once('close', () => open.delete(socket)).on('error', () => {})
    }
    forward({ client, service, plan: planBreak(random), breaks, told })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    breaks,
    told,
    async stop() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

const MIN_REQUEST_BYTES = 250_000
const MAX_REQUEST_BYTES = 900_000
/** Some answers without content. */
const MAX_ANSWER_BYTES = 1_500

function planBreak(random: Random): BreakPlan {
  const losesAnswer = random.chance(1 / 8)
  const ending = (): Ending => random.pick(['fin', 'rst'])
  return {
    requestBytes: MIN_REQUEST_BYTES + random.below(MAX_REQUEST_BYTES - MIN_REQUEST_BYTES),
    answerBytes: losesAnswer ? random.below(MAX_ANSWER_BYTES) : Infinity,
    client: ending(),
    service: ending(),
    isClientFirst: random.chance(1 / 6),
  }
}

interface Forwarding {
  readonly client: Socket
  readonly service: Socket
  readonly plan: BreakPlan
  readonly breaks: Break[]
  readonly told: ToldOffset[]
}

function forward({ client, service, plan, breaks, told }: Forwarding): void {
  const left = { request: plan.requestBytes, answer: plan.answerBytes }
  let isBroken = false
  const answers = createReader(told)

  /** Passes on what comes before the break. */
  function pass(bytes: Buffer, way: { from: Socket; to: Socket; during: Break['during'] }): void {
    if (isBroken) return
    const { from, to, during } = way
    // As a kernel does with bytes for a closed socket. A client that is left waiting would never send them all.
    if (to.destroyed) return void from.resetAndDestroy()
    const fits = bytes.length <= left[during]
    // A FIN never comes in the middle of an answer's head, where most libraries take it for the end of the head.
    const isDropped = !fits && during === 'answer' && plan.client === 'fin'
    const passed = isDropped ? bytes.subarray(0, 0) : bytes.subarray(0, left[during])
    left[during] -= passed.length
    if (during === 'answer') answers.read(passed)
    if (!to.write(passed)) {
      from.pause()
      to.once('drain', () => from.resume())
    }
    if (!fits) breakConnection(during)
  }

  function breakConnection(during: Break['during']): void {
    isBroken = true
    breaks.push({ ...plan, during })
    // Whatever still comes is read and dropped.
    client.resume()
    service.resume()
    if (plan.isClientFirst) endWith(client, plan.client)
    else service.once('close', () => endWith(client, plan.client))
    endWith(service, plan.service)
  }

  client.on('data', (bytes) => pass(bytes, { from: client, to: service, during: 'request' }))
  service.on('data', (bytes) => pass(bytes, { from: service, to: client, during: 'answer' }))
  // By then each has got what the other one sent.
  client.once('close', () => service.end())
  service.once('close', () => isBroken || endWith(client.resume(), 'fin'))
}

function endWith(socket: Socket, ending: Ending): void {
  if (ending === 'rst') socket.resetAndDestroy()
  else {
    socket.end()
    // As the kernel does for a closed socket: a client that only sends would never notice its end.
    const reset = setTimeout(() => socket.resetAndDestroy(), 5_000)
    socket.once('close', () => clearTimeout(reset))
  }
}

/** Finds the offsets in the answers of one connection. */
function createReader(told: ToldOffset[]) {
  let text = ''
  return {
    read(bytes: Buffer): void {
      text += bytes.toString('latin1')
      for (;;) {
        const end = text.indexOf('\r\n\r\n')
        if (end < 0) return
        const head = text.slice(0, end)
        text = text.slice(end + 4)
        const metadata = headerOf(head, 'upload-metadata')
        const offset = headerOf(head, 'upload-offset')
        // No other answer has both.
        if (metadata !== undefined && offset !== undefined) {
          told.push({ metadata, offset: Number(offset) })
        }
      }
    },
  }
}

function headerOf(head: string, name: string): string | undefined {
  return new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim()
}
