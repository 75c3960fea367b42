import { startContainer } from './container.ts'
import { answers, findProgram, freePort, type ProgramOptions } from './local-server.ts'
import {
  findS3Server,
  type S3Server,
  startS3Program,
  TEST_ACCOUNT,
  type Unavailable,
} from './s3-server.ts'

/**
 * Finds a MinIO for tests: the S3 server that TEST_S3_ENDPOINT, TEST_S3_ACCESS_KEY_ID and TEST_S3_SECRET_ACCESS_KEY
 * name, else one in a container, else a `minio` program of this machine; or says what is missing.
 */
export function startMinio(): Promise<S3Server | Unavailable> {
  return findS3Server({
    name: 'MinIO',
    variables: 'TEST_S3',
    starts: [startImage, startMinioProgram],
  })
}

const READY_PATH = '/minio/health/ready'

/** What every MinIO of the tests is started with. */
export const MINIO_ENVIRONMENT = {
  MINIO_ROOT_USER: TEST_ACCOUNT.accessKeyId,
  MINIO_ROOT_PASSWORD: TEST_ACCOUNT.secretAccessKey,
  MINIO_REGION: TEST_ACCOUNT.region,
  MINIO_UPDATE: 'off',
  // Lets the benchmark count requests.
  MINIO_PROMETHEUS_AUTH_TYPE: 'public',
}

async function startImage(): Promise<S3Server> {
  const { host, port, stop } = await startContainer({
    image: 'minio/minio:RELEASE.2025-09-07T16-13-09Z',
    command: ['server', '/data'],
    environment: MINIO_ENVIRONMENT,
    port: 9000,
    ready: { path: READY_PATH },
  })
  return { address: { endpoint: `http://${host}:${port}`, ...TEST_ACCOUNT }, stop }
}

/** Runs the `minio` of this machine. */
export async function startMinioProgram(): Promise<S3Server> {
  const { endpoint, server } = await minioProgram()
  return startS3Program({ ...server, endpoint })
}

export interface MinioProgram {
  readonly endpoint: string
  /** With the folder that holds all it has, for `runServer`. */
  readonly server: Pick<ProgramOptions, 'program' | 'isReady'> & {
    readonly environment: Readonly<Record<string, string>>
    readonly args: (folder: string) => readonly string[]
  }
}

/** The `minio` of this machine, on ports that nobody else has. */
export async function minioProgram(): Promise<MinioProgram> {
  const address = `127.0.0.1:${await freePort()}`
  const console = `127.0.0.1:${await freePort()}`
  const options = ['--quiet', '--address', address, '--console-address', console]
  return {
    endpoint: `http://${address}`,
    server: {
      program: await findProgram('minio'),
      environment: MINIO_ENVIRONMENT,
      args: (folder) => ['server', ...options, folder],
      isReady: () => answers(`http://${address}${READY_PATH}`),
    },
  }
}
