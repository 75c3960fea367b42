import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { access, constants, mkdtemp, rm } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { startContainer } from './container.ts'

export interface Minio {
  readonly endpoint: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly region: string
  stop(): Promise<void>
}

/**
 * Finds an S3 server for tests: the one that TEST_S3_ENDPOINT, TEST_S3_ACCESS_KEY_ID and TEST_S3_SECRET_ACCESS_KEY
 * name, else a MinIO in a container, else a `minio` program of this machine; or says what is missing.
 */
export async function startMinio(): Promise<Minio | { readonly unavailable: string }> {
  const named = namedServer()
  if (named !== undefined) return named
  const reasons: string[] = []
  for (const start of [startImage, startProgram]) {
    try {
      return await start()
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error))
    }
  }
  return { unavailable: `No MinIO: TEST_S3_ENDPOINT is not set; ${reasons.join('; ')}` }
}

const REGION = 'us-east-1'
const START_TIMEOUT_MS = 30_000
const CREDENTIALS = { accessKeyId: 'test-access-key', secretAccessKey: 'test-secret-key' }

const ENVIRONMENT = {
  MINIO_ROOT_USER: CREDENTIALS.accessKeyId,
  MINIO_ROOT_PASSWORD: CREDENTIALS.secretAccessKey,
  MINIO_REGION: REGION,
  MINIO_UPDATE: 'off',
}

async function startImage(): Promise<Minio> {
  const { host, port, stop } = await startContainer({
    image: 'minio/minio:RELEASE.2025-09-07T16-13-09Z',
    command: ['server', '/data'],
    environment: ENVIRONMENT,
    port: 9000,
    ready: { path: '/minio/health/ready' },
  })
  return { endpoint: `http://${host}:${port}`, ...CREDENTIALS, region: REGION, stop }
}

function namedServer(): Minio | undefined {
  const endpoint = process.env['TEST_S3_ENDPOINT']
  const accessKeyId = process.env['TEST_S3_ACCESS_KEY_ID']
  const secretAccessKey = process.env['TEST_S3_SECRET_ACCESS_KEY']
  if (!endpoint || !accessKeyId || !secretAccessKey) return undefined
  const region = process.env['TEST_S3_REGION'] ?? REGION
  return { endpoint, accessKeyId, secretAccessKey, region, stop: async () => undefined }
}

async function findProgram(): Promise<string | undefined> {
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    join(await goPath(), 'bin'),
    join(homedir(), 'go', 'bin'),
  ]
  for (const folder of folders) {
    const program = join(folder, 'minio')
    if (await isExecutable(program)) return program
  }
  return undefined
}

async function goPath(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('go', ['env', 'GOPATH'])
    return stdout.trim()
  } catch {
    return ''
  }
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

async function startProgram(): Promise<Minio> {
  const program = await findProgram()
  if (program === undefined) throw new Error('no program minio is on the PATH')
  const folder = await mkdtemp(join(tmpdir(), 'cloud-repository-minio-'))
  const address = `127.0.0.1:${await freePort()}`
  const console = `127.0.0.1:${await freePort()}`
  const child = spawn(
    program,
    ['server', '--quiet', '--address', address, '--console-address', console, folder],
    {
      env: { ...process.env, ...ENVIRONMENT },
      stdio: 'ignore',
    },
  )
  const stop = () => end(child, folder)
  try {
    await ready(`http://${address}`, child)
  } catch (error) {
    await stop()
    throw error
  }
  return { endpoint: `http://${address}`, ...CREDENTIALS, region: REGION, stop }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('No port')
  return address.port
}

async function ready(endpoint: string, child: ChildProcess): Promise<void> {
  const failure = new Promise<never>((_resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`it ended with ${code}`)))
  })
  await Promise.race([poll(`${endpoint}/minio/health/ready`), failure])
}

async function poll(url: string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS
  while (Date.now() < deadline) {
    const answer = await fetch(url).catch(() => undefined)
    await answer?.body?.cancel()
    if (answer?.ok === true) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`it was not ready within ${START_TIMEOUT_MS} ms`)
}

async function end(child: ChildProcess, folder: string): Promise<void> {
  const exited = new Promise((resolve) => child.once('close', resolve))
  if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')) await exited
  await rm(folder, { recursive: true, force: true })
}
