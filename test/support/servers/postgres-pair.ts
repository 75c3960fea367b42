import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createFolder, freePort } from './local-server.ts'
import {
  copyInitialised,
  initialise,
  localUrl,
  type PostgresPrograms,
  type PostgresServer,
  runPostgres,
} from './postgres-program.ts'
import { runSql } from '../run-sql.ts'
import { startTcpProxy, type TcpProxy } from '../faults/tcp-proxy.ts'

/** A primary that commits nothing before its standby has it, and a switch in front that leads to the primary. */
export interface PostgresPair {
  /** Of the database `postgres`, through the switch. */
  readonly url: string
  readonly balancer: TcpProxy
  readonly primary: PairedServer
  readonly standby: PairedServer
  /** Makes the standby a primary, which from then on has no standby of its own. */
  promote(): Promise<void>
  /** Kills the primary and promotes the standby, as a cluster manager does: the switch lets go of the primary first. */
  failOver(): Promise<void>
  /** Resolves when commits can wait for the standby. */
  inStep(): Promise<void>
  stop(): Promise<void>
}

/** A server that ends as on a machine that loses its power, and begins again with what its disk holds. */
export class PairedServer {
  readonly port: number
  readonly url: string
  readonly #server: PostgresServer
  #running: { stop(): Promise<void> } | undefined

  constructor(server: PostgresServer) {
    this.#server = { ...server, stopSignal: 'SIGKILL' }
    this.port = server.port
    this.url = localUrl(server.port)
  }

  async start(): Promise<void> {
    this.#running = await runPostgres(this.#server)
  }

  async kill(): Promise<void> {
    await this.#running?.stop()
    this.#running = undefined
  }
}

const STANDBY = 'standby'

export async function startPostgresPair(programs: PostgresPrograms): Promise<PostgresPair> {
  const folder = await createFolder('postgres-pair')
  const data = { primary: join(folder.path, 'primary'), standby: join(folder.path, 'standby') }
  await initialise(programs, data.primary)
  await copyInitialised(data.primary, data.standby)
  await writeFile(join(data.standby, 'standby.signal'), '')
  const port = await freePort()
  const primary = new PairedServer({
    programs,
    data: data.primary,
    port,
    settings: { synchronous_standby_names: STANDBY, wal_keep_size: '256MB' },
  })
  const standby = new PairedServer({
    programs,
    data: data.standby,
    port: await freePort(),
    settings: {
      primary_conninfo: `host=127.0.0.1 port=${port} user=postgres application_name=${STANDBY}`,
      wal_retrieve_retry_interval: '100ms',
    },
  })
  const balancer = await startTcpProxy({ ports: [port] })

  async function stop(): Promise<void> {
    await Promise.all([primary.kill(), standby.kill(), balancer.stop()])
    await folder.remove()
  }
  const inStep = (): Promise<void> =>
    until(primary.url, `SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`)
  try {
    await Promise.all([primary.start(), standby.start()])
    await inStep()
  } catch (error) {
    await stop()
    throw error
  }
  async function promote(): Promise<void> {
    await runSql(standby.url, `SELECT pg_promote()`)
    await until(standby.url, `SELECT 1 WHERE NOT pg_is_in_recovery()`)
  }
  return {
    url: localUrl(balancer.port),
    balancer,
    primary,
    standby,
    promote,
    async failOver() {
      balancer.hold()
      balancer.cut()
      await primary.kill()
      await promote()
      balancer.point([standby.port])
    },
    inStep,
    stop,
  }
}

/** Asks again and again, until there is a row. */
export async function until(url: string, statement: string): Promise<void> {
  while ((await runSql(url, statement)).length === 0) await setTimeout(50)
}
