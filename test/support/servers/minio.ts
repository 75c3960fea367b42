import { startContainer } from './container.ts'
import { answers, findProgram, freePort } from './local-server.ts'
import {
  findS3Server,
  type S3Program,
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
    starts: [startImage, async () => startS3Program(await minioProgram())],
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

/** The `minio` of this machine. */
export async function minioProgram(): Promise<S3Program> {
  const address = `127.0.0.1:${await freePort()}`
  const console = `127.0.0.1:${await freePort()}`
  const options = ['--quiet', '--address', address, '--console-address', console]
  return {
    program: await findProgram('minio'),
    endpoint: `http://${address}`,
    environment: MINIO_ENVIRONMENT,
    args: (folder) => ['server', ...options, folder],
    isReady: () => answers(`http://${address}${READY_PATH}`),
  }
}
