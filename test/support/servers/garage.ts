import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { answers, findProgram, freePort } from './local-server.ts'
import { type S3Program, TEST_ACCOUNT } from './s3-server.ts'

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
