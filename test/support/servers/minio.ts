import { startContainer } from './container.ts'
import { answers, findProgram, freePort } from './local-server.ts'
import { type S3Program, type S3Server, TEST_ACCOUNT } from './s3-server.ts'

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

export async function startMinioImage(): Promise<S3Server> {
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
