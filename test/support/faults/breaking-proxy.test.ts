import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type Break,
  type BreakingProxy,
  type BreakPlan,
  startBreakingProxy,
} from './breaking-proxy.ts'

const CONNECTIONS = 30
const SENT = Buffer.alloc(2 ** 20)
const ANSWER = 'HTTP/1.1 200 OK\r\nUpload-Offset: 7\r\nUpload-Metadata: filename YQ==\r\n\r\n'
/** More than a connection that loses an answer lets through. */
const ANSWERS = ANSWER.repeat(25)

describe('the proxy that breaks connections', () => {
  let opened: AsyncDisposableStack
  let service: Server
  /** What came of each connection before its end. */
  let received: number[]
  beforeEach(async () => {
    opened = new AsyncDisposableStack()
    received = []
    service = createServer((socket) => {
      const at = received.push(0) - 1
      socket.on('error', () => {})
      socket.on('data', (bytes) => (received[at] = (received[at] ?? 0) + bytes.length))
      socket.once('data', () => {
        // In two pieces, as a slow network has it.
        socket.write(ANSWERS.slice(0, 20))
        socket.write(ANSWERS.slice(20))
      })
    })
    service.listen(0, '127.0.0.1')
    await once(service, 'listening')
    opened.defer(() => void service.close())
  })
  afterEach(() => opened.disposeAsync())

  async function start(seed: number): Promise<BreakingProxy> {
    const proxy = await startBreakingProxy({ port: (service.address() as AddressInfo).port, seed })
    opened.defer(() => proxy.stop())
    return proxy
  }

  /** Sends a MiB over one connection after the other. */
  async function breakAll({ url }: BreakingProxy): Promise<void> {
    for (let count = 0; count < CONNECTIONS; count++) await sendUntilBroken(url)
  }

  it('breaks every connection that carries enough, by FIN and by RST on both sides', async () => {
    const proxy = await start(1)
    await breakAll(proxy)
    expect(proxy.breaks).toHaveLength(CONNECTIONS)
    const endings = new Set(proxy.breaks.map(({ client, service }) => `${client} ${service}`))
    expect(endings.size).toBe(4)
    expect(new Set(proxy.breaks.map(({ during }) => during)).size).toBe(2)
  })

  it('lets through what comes before the break', async () => {
    const proxy = await start(2)
    await breakAll(proxy)
    const expected = proxy.breaks.map((broken) => wholeBytes(broken))
    const both = expected.map((bytes, at) => [bytes, bytes === undefined ? bytes : received[at]])
    for (const [bytes, got] of both) expect(got).toBe(bytes)
  })

  it('breaks the same connections in the same way for the same seed', async () => {
    const proxies = [await start(3), await start(3), await start(4)]
    for (const proxy of proxies) await breakAll(proxy)
    const [first, second, third] = proxies.map(({ breaks }) => breaks.map(planOf))
    expect(second).toEqual(first)
    expect(third).not.toEqual(first)
  })

  it('reads the offsets that a client is told', async () => {
    const proxy = await start(5)
    await breakAll(proxy)
    expect(proxy.told.length).toBeGreaterThan(CONNECTIONS / 2)
    expect(new Set(proxy.told.map((told) => JSON.stringify(told)))).toEqual(
      new Set([JSON.stringify({ metadata: 'filename YQ==', offset: 7 })]),
    )
  })

  it('resets a client that goes on sending after the service has answered and closed', async () => {
    service.on('connection', (socket) => socket.once('data', () => socket.end()))
    const { url } = await start(6)
    const port = Number(new URL(url).port)
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    // Whether with an error.
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => {}).resume()
    socket.write('PATCH / HTTP/1.1\r\n')
    await once(socket, 'end')
    for (let sent = 0; sent < 64; sent += 1) socket.write(SENT)
    expect(await closed).toBe(true)
  }, 10_000)
})

/** Which of its limits a connection reaches first is a race. */
function planOf({ during: _during, ...plan }: Break): BreakPlan {
  return plan
}

/** What a FIN after the request's bytes has let through. */
function wholeBytes({ during, service, requestBytes }: Break): number | undefined {
  return during === 'request' && service === 'fin' ? requestBytes : undefined
}

async function sendUntilBroken(url: string): Promise<void> {
  const socket: Socket = connect(Number(new URL(url).port), '127.0.0.1')
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const answered = new Promise((resolve) => socket.once('data', resolve))
  socket.on('error', () => {}).resume()
  // The answer comes before the proxy has what it takes to break in the middle of the request.
  socket.write(SENT.subarray(0, 1000))
  await Promise.race([answered, closed])
  socket.write(SENT.subarray(1000))
  await closed
}
