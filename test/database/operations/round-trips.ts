import { once } from 'node:events'
import { type AddressInfo, createServer, createConnection, type Socket } from 'node:net'

/** A way to a server on which it counts how often a client waited for an answer. */
export interface CountedWay extends AsyncDisposable {
  readonly url: string
  /** Since it was last asked. */
  count(): number
}

/** Answers take a while on it, so that whatever is sent without waiting for them has long been sent. */
export async function countRoundTrips(to: string): Promise<CountedWay> {
  const { hostname, port } = new URL(to)
  const sockets = new Set<Socket>()
  let trips = 0
  const server = createServer((client) => {
    const upstream = createConnection(Number(port), hostname)
    let isAnswered = true
    client.on('data', (data) => {
      if (isAnswered) trips += 1
      isAnswered = false
      upstream.write(data)
    })
    upstream.on('data', (data) => {
      setTimeout(() => {
        isAnswered = true
        client.write(data)
      }, ANSWER_MS)
    })
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => sockets.forEach((each) => each.destroy()))
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(to)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    count() {
      const counted = trips
      trips = 0
      return counted
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

const ANSWER_MS = 30
