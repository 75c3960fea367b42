import { answers, findProgram, freePort } from './local-server.ts'
import { type S3Program, TEST_ACCOUNT } from './s3-server.ts'

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
