import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

export interface EndpointsOptions {
  /** The port of every pod. */
  readonly port: number
  /** How late a change of the pods takes effect. */
  readonly delayMs: number
}

/**
 * What kube-proxy is for a Service: each new connection goes to one of its pods, in turn. If the pod does not accept it,
 * no other one is tried, and the client's connection is reset.
 */
export class Endpoints implements AsyncDisposable {
  readonly #hosts = new Set<string>()
  readonly #sockets = new Set<Socket>()
  readonly #options: EndpointsOptions
  readonly #server = createServer((client) => this.#forward(client))
  #turn = 0

  static async open(options: EndpointsOptions): Promise<Endpoints> {
    const endpoints = new Endpoints(options)
    endpoints.#server.listen(0, '127.0.0.1')
    await once(endpoints.#server, 'listening')
    return endpoints
  }

  private constructor(options: EndpointsOptions) {
    this.#options = options
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Resolves when the change has taken effect. */
  async set(host: string, isReady: boolean): Promise<void> {
    await delay(this.#options.delayMs)
    if (isReady) this.#hosts.add(host)
    else this.#hosts.delete(host)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#sockets.forEach((socket) => socket.destroy())
    this.#server.close()
    await once(this.#server, 'close')
  }

  #forward(client: Socket): void {
    const hosts = [...this.#hosts]
    const host = hosts[this.#turn++ % hosts.length]
    client.on('error', () => {})
    if (host === undefined) return void client.resetAndDestroy()
    const pod = connect({ host, port: this.#options.port, noDelay: true })
    pod.on('error', () => client.resetAndDestroy())
    client.once('close', () => pod.destroy())
    pod.once('close', () => client.destroy())
    client.pipe(pod).pipe(client)
    for (const socket of [client, pod]) {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    }
  }
}
