import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createFolder, freePort, type RunningServer } from './local-server.ts'
import { minioProgram } from './minio.ts'
import { findInstalled, initialise, localUrl, runPostgres } from './postgres-program.ts'
import { runS3Program, TEST_ACCOUNT } from './s3-server.ts'

const execute = promisify(execFile)

/** A server that a test has for itself, to stop and to freeze. It keeps its port and what it holds. */
export class OwnServer {
  readonly #run: () => Promise<RunningServer>
  #running: RunningServer | undefined

  constructor(run: () => Promise<RunningServer>) {
    this.#run = run
  }

  async start(): Promise<void> {
    this.#running = await this.#run()
  }

  async stop(): Promise<void> {
    await this.#running?.stop()
    this.#running = undefined
  }

  /** Its connections stay, and nobody answers on them. */
  async freeze(): Promise<void> {
    for (const pid of await this.#processes()) process.kill(pid, 'SIGSTOP')
  }

  async thaw(): Promise<void> {
    for (const pid of await this.#processes()) process.kill(pid, 'SIGCONT')
  }

  /** PostgreSQL has one for each session. */
  async #processes(): Promise<readonly number[]> {
    const pid = this.#running?.pid ?? 0
    const listed = execute('ps', ['-o', 'pid=', '--ppid', String(pid)])
    const { stdout } = await listed.catch(() => ({ stdout: '' }))
    return [pid, ...stdout.split('\n').map(Number)].filter((found) => found > 0)
  }
}

export interface OwnedServer {
  readonly server: OwnServer
  /** The service's settings that lead to it. */
  readonly settings: Readonly<Record<string, string>>
}

/** Runs the `minio` of this machine. */
export async function startOwnMinio(opened: AsyncDisposableStack): Promise<OwnedServer> {
  const program = await minioProgram()
  const folder = await createFolder('s3')
  opened.defer(() => folder.remove())
  const server = await startOwn(opened, () => runS3Program(program, folder.path))
  const settings = {
    OBJECT_STORE: 's3://watched',
    AWS_ENDPOINT_URL_S3: program.endpoint,
    AWS_REGION: TEST_ACCOUNT.region,
    AWS_ACCESS_KEY_ID: TEST_ACCOUNT.accessKeyId,
    AWS_SECRET_ACCESS_KEY: TEST_ACCOUNT.secretAccessKey,
  }
  return { server, settings }
}

/** Runs the newest PostgreSQL of this machine. */
export async function startOwnPostgres(opened: AsyncDisposableStack): Promise<OwnedServer> {
  const folder = await createFolder('postgres')
  opened.defer(() => folder.remove())
  const programs = await findInstalled()
  const data = join(folder.path, 'db')
  await initialise(programs, data)
  const port = await freePort()
  const server = await startOwn(opened, () => runPostgres({ programs, data, port }))
  return { server, settings: { DATABASE_URL: localUrl(port) } }
}

async function startOwn(
  opened: AsyncDisposableStack,
  run: () => Promise<RunningServer>,
): Promise<OwnServer> {
  const server = new OwnServer(run)
  await server.start()
  opened.defer(async () => {
    await server.thaw().catch(() => undefined)
    await server.stop()
  })
  return server
}
