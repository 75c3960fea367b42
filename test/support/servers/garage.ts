import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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
 * Finds a Garage for tests: the one that TEST_GARAGE_ENDPOINT, TEST_GARAGE_ACCESS_KEY_ID and
 * TEST_GARAGE_SECRET_ACCESS_KEY name, else a `garage` program of this machine; or says what is missing.
 */
export function startGarage(): Promise<S3Server | Unavailable> {
  return findS3Server({
    name: 'Garage',
    variables: 'TEST_GARAGE',
    starts: [async () => startS3Program(await garageProgram())],
  })
}

/** The `garage` of this machine, as one node that syncs what it writes. */
export async function garageProgram(): Promise<S3Program> {
  const program = await findProgram('garage')
  const [s3, rpc, admin] = [await freePort(), await freePort(), await freePort()]
  const config = (folder: string): string => join(folder, 'garage.toml')
  return {
    program,
    endpoint: `http://127.0.0.1:${s3}`,
    environment: {
      GARAGE_DEFAULT_ACCESS_KEY: TEST_ACCOUNT.accessKeyId,
      GARAGE_DEFAULT_SECRET_KEY: TEST_ACCOUNT.secretAccessKey,
    },
    prepare: (folder) =>
      writeFile(
        config(folder),
        `metadata_dir = "${join(folder, 'metadata')}"
data_dir = "${join(folder, 'data')}"
metadata_fsync = true
data_fsync = true
replication_factor = 1
rpc_bind_addr = "127.0.0.1:${rpc}"
rpc_secret = "${'0'.repeat(64)}"
[s3_api]
api_bind_addr = "127.0.0.1:${s3}"
s3_region = "${TEST_ACCOUNT.region}"
[admin]
api_bind_addr = "127.0.0.1:${admin}"
`,
      ),
    args: (folder) => [
      '--config',
      config(folder),
      'server',
      '--single-node',
      '--default-access-key',
    ],
    isReady: () => answers(`http://127.0.0.1:${admin}/health`),
  }
}
