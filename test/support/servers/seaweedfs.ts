import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { answers, findProgram, freePort } from './local-server.ts'
import { type S3Program, TEST_ACCOUNT } from './s3-server.ts'

/** The `weed` of this machine, on ports that nobody else has, as docs/storage.md sets it up. */
export async function seaweedfsProgram(): Promise<S3Program> {
  const program = await findProgram('weed')
  const ports: Record<string, number> = {}
  for (const part of ['master', 'volume', 'filer', 's3']) {
    ports[part] = await freePort()
    ports[`${part}.grpc`] = await freePort()
  }
  const flags = Object.entries(ports).map(([part, port]) => {
    const [name = '', kind] = part.split('.')
    return `-${name}.port${kind === undefined ? '' : `.${kind}`}=${port}`
  })
  const endpoint = `http://127.0.0.1:${ports['s3']}`
  const master = `127.0.0.1:${ports['master']}.${ports['master.grpc']}`
  return {
    program,
    endpoint,
    environment: {
      AWS_ACCESS_KEY_ID: TEST_ACCOUNT.accessKeyId,
      AWS_SECRET_ACCESS_KEY: TEST_ACCOUNT.secretAccessKey,
    },
    args: (folder) => [
      '-logtostderr=true',
      'server',
      `-dir=${folder}`,
      '-ip=127.0.0.1',
      '-ip.bind=127.0.0.1',
      '-s3',
      '-s3.autoCreateBucket=false',
      '-s3.port.iceberg=0',
      '-s3.port.lance=0',
      `-filer.localSocket=${join(folder, 'filer.sock')}`,
      // Each bucket gets volumes of its own.
      '-master.volumeSizeLimitMB=64',
      '-volume.max=0',
      '-volume.preStopSeconds=0',
      ...flags,
    ],
    isReady: async () =>
      (await answers(`${endpoint}/healthz`)) && (await syncWrites(program, master)),
  }
}

const SYNC_WRITES = 'fs.configure -locationPrefix=/buckets/ -fsync -apply\n'

/** Has all writes to buckets synced before they are confirmed. SeaweedFS keeps this setting in its own metadata. */
async function syncWrites(program: string, master: string): Promise<boolean> {
  const running = promisify(execFile)(program, ['shell', `-master=${master}`], { timeout: 20_000 })
  running.child.stdin?.end(SYNC_WRITES)
  return running.then(
    ({ stdout }) => /"fsync":\s*true/.test(stdout),
    () => false,
  )
}
