import { createMemoryFolder, firstOf, type RunningServer, runServer } from './local-server.ts'

/** Where an S3 server of the tests is, and its administrator's key. */
export interface S3Address {
  readonly endpoint: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly region: string
}

export interface S3Server {
  readonly address: S3Address
  /** Of its process, where it runs as one of this machine's. */
  readonly pid?: number
  stop(): Promise<void>
}

/** Says why there is no server. */
export interface Unavailable {
  readonly unavailable: string
}

/** What a server is started with when the tests start it. */
export const TEST_ACCOUNT = {
  accessKeyId: 'test-access-key',
  secretAccessKey: 'test-secret-key',
  region: 'us-east-1',
}

interface Candidates {
  readonly name: string
  /** What the variables start with that name a running server. */
  readonly variables: string
  /** Ways to start one, the best first. */
  readonly starts: readonly (() => Promise<S3Server>)[]
}

/** The server that the environment names, else the first that can be started, else what is missing. */
export async function findS3Server(candidates: Candidates): Promise<S3Server | Unavailable> {
  const { name, variables, starts } = candidates
  const named = namedServer(variables)
  if (named !== undefined) return named
  const found = await firstOf(starts)
  if (!('reasons' in found)) return found
  return { unavailable: `No ${name}: ${variables}_ENDPOINT is not set; ${found.reasons}` }
}

function namedServer(variables: string): S3Server | undefined {
  const endpoint = process.env[`${variables}_ENDPOINT`]
  const accessKeyId = process.env[`${variables}_ACCESS_KEY_ID`]
  const secretAccessKey = process.env[`${variables}_SECRET_ACCESS_KEY`]
  if (!endpoint || !accessKeyId || !secretAccessKey) return undefined
  const region = process.env[`${variables}_REGION`] ?? TEST_ACCOUNT.region
  return { address: { endpoint, accessKeyId, secretAccessKey, region }, stop: async () => {} }
}

/** A program of this machine that is an S3 server for `TEST_ACCOUNT`, on ports that nobody else has. */
export interface S3Program {
  readonly program: string
  readonly endpoint: string
  readonly environment: Readonly<Record<string, string>>
  /** The arguments of a server that keeps all it has in `folder`. */
  readonly args: (folder: string) => readonly string[]
  readonly isReady: () => Promise<boolean>
}

/** Runs such a program on a folder that goes with it, of memory unless another is given. */
export async function startS3Program(
  server: S3Program,
  createFolder = createMemoryFolder,
): Promise<S3Server> {
  const { endpoint } = server
  const folder = await createFolder('s3')
  try {
    const running = await runS3Program(server, folder.path)
    const stop = async (): Promise<void> => {
      await running.stop()
      await folder.remove()
    }
    return { address: { endpoint, ...TEST_ACCOUNT }, pid: running.pid, stop }
  } catch (error) {
    await folder.remove()
    throw error
  }
}

/** Runs such a program on a folder that holds all it has. Its end is that of a crash. */
export function runS3Program(
  { program, environment, args, isReady }: S3Program,
  folder: string,
): Promise<RunningServer> {
  return runServer({ program, environment, args: args(folder), isReady, stopSignal: 'SIGKILL' })
}
