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
 * Finds a versitygw for tests: the one that TEST_VERSITYGW_ENDPOINT, TEST_VERSITYGW_ACCESS_KEY_ID and
 * TEST_VERSITYGW_SECRET_ACCESS_KEY name, else a `versitygw` program of this machine; or says what is missing.
 */
export function startVersitygw(): Promise<S3Server | Unavailable> {
  return findS3Server({
    name: 'versitygw',
    variables: 'TEST_VERSITYGW',
    starts: [async () => startS3Program(await versitygwProgram())],
  })
}

const READY_PATH = '/health'

const ENVIRONMENT = {
  ROOT_ACCESS_KEY: TEST_ACCOUNT.accessKeyId,
  ROOT_SECRET_KEY: TEST_ACCOUNT.secretAccessKey,
  VGW_REGION: TEST_ACCOUNT.region,
}

/** The `versitygw` of this machine. Its folder has to be on a file system with extended attributes, where it keeps what it knows of an object. */
export async function versitygwProgram(): Promise<S3Program> {
  const program = await findProgram('versitygw')
  const address = `127.0.0.1:${await freePort()}`
  const options = ['--quiet', '--port', address, '--health', READY_PATH]
  return {
    program,
    endpoint: `http://${address}`,
    environment: ENVIRONMENT,
    args: (folder) => [...options, 'posix', folder],
    isReady: () => answers(`http://${address}${READY_PATH}`),
  }
}
