import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface MeddlerOptions {
  /** Of the service behind it. */
  readonly port: number
  readonly request?: (bytes: Buffer) => Buffer
  /** `undefined` keeps the client's connection open and sends nothing more on it. */
  readonly answer?: (bytes: Buffer) => Buffer | undefined
}

export interface Meddler {
  readonly port: number
  stop(): Promise<void>
}

/** Stands before the service and changes what goes through, so that the service seems to misbehave. */
export async function startMeddler(options: MeddlerOptions): Promise<Meddler> {
  const { port, request = (bytes) => bytes, answer = (bytes) => bytes } = options
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const service = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    let isSilent = false
    for (const socket of [client, service]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => sockets.delete(socket))
    }
    client.on('data', (bytes: Buffer) => service.write(request(bytes)))
    client.once('end', () => service.end())
    client.once('close', () => service.destroy())
    service.on('data', (bytes: Buffer) => {
      const changed = isSilent ? undefined : answer(bytes)
      if (changed === undefined) isSilent = true
      else client.write(changed)
    })
    service.once('end', () => void (isSilent || client.end()))
    service.once('close', () => void (isSilent || client.destroySoon()))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
