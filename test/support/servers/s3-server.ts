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
  /** Kills that process at once, and resolves when another one is ready with what it had. */
  readonly restart?: () => Promise<void>
  stop(): Promise<void>
}

/** One that runs as a process of this machine's. */
type S3Process = S3Server & Required<Pick<S3Server, 'pid' | 'restart'>>

/** Says why there is no server. */
export interface Unavailable {
  readonly unavailable: string
}

/** What a server is started with when the tests start it. */
export const TEST_ACCOUNT = {
  accessKeyId: 'test-access-key',
  // Garage takes none below 16 characters.
  secretAccessKey: 'test-secret-access-key',
  region: 'us-east-1',
}

export interface WantedS3Server {
  readonly title: string
  /** What the variables begin with that name a running server: `TEST_GARAGE` for TEST_GARAGE_ENDPOINT. */
  readonly variables: string
  /** Starts it in a container. */
  readonly startImage?: () => Promise<S3Server>
  /** That of this machine. */
  readonly program: () => Promise<S3Program>
}

/** The server that the environment names, else one in a container, else the program; or what is missing. */
export async function findS3Server(wanted: WantedS3Server): Promise<S3Server | Unavailable> {
  const { title, variables, startImage, program } = wanted
  const named = namedServer(variables)
  if (named !== undefined) return named
  const startProgram = async (): Promise<S3Server> => startS3Program(await program())
  const found = await firstOf(startImage ? [startImage, startProgram] : [startProgram])
  if (!('reasons' in found)) return found
  return { unavailable: `No ${title}: ${variables}_ENDPOINT is not set; ${found.reasons}` }
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
  /** Puts what it reads at its start into `folder`. */
  readonly prepare?: (folder: string) => Promise<void>
  /** The arguments of a server that keeps all it has in `folder`. */
  readonly args: (folder: string) => readonly string[]
  readonly isReady: () => Promise<boolean>
}

/** Runs such a program on a folder that goes with it, of memory unless another is given. */
export async function startS3Program(
  server: S3Program,
  createFolder = createMemoryFolder,
): Promise<S3Process> {
  const { endpoint } = server
  const folder = await createFolder('s3')
  try {
    let running = await runS3Program(server, folder.path)
    return {
      address: { endpoint, ...TEST_ACCOUNT },
      get pid() {
        return running.pid
      },
      restart: async () => {
        await running.stop()
        running = await runS3Program(server, folder.path)
      },
      async stop() {
        await running.stop()
        await folder.remove()
      },
    }
  } catch (error) {
    await folder.remove()
    throw error
  }
}

/** Runs such a program on a folder that holds all it has. Its end is that of a crash. */
export async function runS3Program(
  { program, environment, prepare, args, isReady }: S3Program,
  folder: string,
): Promise<RunningServer> {
  await prepare?.(folder)
  return runServer({ program, environment, args: args(folder), isReady, stopSignal: 'SIGKILL' })
}
