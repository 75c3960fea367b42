import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { answers, createFolder, freePort, runServer } from './local-server.ts'
import { MINIO_ENVIRONMENT } from './minio.ts'
import { type S3Address, TEST_ACCOUNT } from './s3-server.ts'
import { startTcpProxy } from '../faults/tcp-proxy.ts'

/** A process that ends as a machine does that loses its power, and begins again with what its disk holds. */
export interface ClusterNode {
  readonly address: S3Address
  /** Holds its copies. */
  readonly folder: string
  kill(): Promise<void>
  /** Resolves when it answers; at once when it runs. */
  start(): Promise<void>
}

export interface MinioCluster {
  /** Leads to whichever node accepts. */
  readonly address: S3Address
  readonly nodes: readonly [ClusterNode, ClusterNode, ClusterNode, ClusterNode]
  /** Starts the nodes that are down. Resolves when each of the four has found the three others. */
  whole(): Promise<void>
  stop(): Promise<void>
}

/**
 * Four nodes of one folder each, in one erasure set: any three of them write, any two read. All run on the loopback,
 * behind a balancer that gives a new connection to the next node that accepts.
 */
export async function startMinioCluster(program: string): Promise<MinioCluster> {
  const folder = await createFolder('minio-cluster')
  const ports = await Promise.all([freePort(), freePort(), freePort(), freePort()])
  const folders = ports.map((_, at) => join(folder.path, `${at}`))
  const drives = ports.map((port, at) => `http://127.0.0.1:${port}${folders[at]}`)
  const createNode = (port: number, at: number) =>
    new Node({ program, port, folder: folders[at] ?? '', drives })
  const nodes = ports.map(createNode) as unknown as MinioCluster['nodes']
  const balancer = await startTcpProxy({ ports })
  const endpoint = balancer.url

  async function stop(): Promise<void> {
    await Promise.all(nodes.map((node) => node.kill()))
    await balancer.stop()
    await folder.remove()
  }
  async function whole(): Promise<void> {
    await Promise.all(nodes.map((node) => node.start()))
    // A node says yes when the others alone, all that are left, can write.
    const found = ports.map(
      (port) => `http://127.0.0.1:${port}/minio/health/cluster?maintenance=true`,
    )
    while (!(await Promise.all(found.map(answers))).every(Boolean)) await setTimeout(100)
  }
  try {
    await Promise.all(nodes.map((node) => node.start()))
  } catch (error) {
    await stop()
    throw error
  }
  return { address: { endpoint, ...TEST_ACCOUNT }, nodes, whole, stop }
}

interface NodeOptions {
  readonly program: string
  readonly port: number
  readonly folder: string
  /** Of all nodes. */
  readonly drives: readonly string[]
}

class Node implements ClusterNode {
  readonly #options: NodeOptions
  #running: Awaited<ReturnType<typeof runServer>> | undefined

  constructor(options: NodeOptions) {
    this.#options = options
  }

  get address(): S3Address {
    return { endpoint: `http://127.0.0.1:${this.#options.port}`, ...TEST_ACCOUNT }
  }

  get folder(): string {
    return this.#options.folder
  }

  async start(): Promise<void> {
    if (this.#running !== undefined) return
    const { program, port, drives } = this.#options
    const address = `127.0.0.1:${port}`
    const console = `127.0.0.1:${await freePort()}`
    this.#running = await runServer({
      program,
      args: ['server', '--quiet', '--address', address, '--console-address', console, ...drives],
      environment: {
        ...MINIO_ENVIRONMENT,
        // Its folders may lie on the disk of the system.
        MINIO_CI_CD: '1',
        // Inside a container it takes no loopback address for its own unless told so.
        _MINIO_SERVER_LOCAL: address,
      },
      isReady: () => answers(`http://${address}/minio/health/live`),
      stopSignal: 'SIGKILL',
    })
  }

  async kill(): Promise<void> {
    await this.#running?.stop()
    this.#running = undefined
  }
}
