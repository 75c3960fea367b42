import type { TestProject } from 'vitest/node'
import { startMinio } from './minio.ts'
import { startPostgres } from './postgres.ts'

export interface MinioAddress {
  readonly endpoint: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly region: string
}

declare module 'vitest' {
  interface ProvidedContext {
    /** `undefined` when no MinIO could be had; the tests that need it are skipped and say why. */
    minio: MinioAddress | undefined
    /** URL of a PostgreSQL server on which databases can be made, or `undefined` as above. */
    postgres: string | undefined
  }
}

/**
 * Starts the real servers of the integration project and stops them at its end. With REQUIRE_SERVICES=1 (CI)
 * a server that is missing ends the run as a failure; else its tests are skipped, with the reason printed.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [minio, postgres] = await Promise.all([startMinio(), startPostgres()])
  for (const service of [minio, postgres]) {
    if ('unavailable' in service) report(service.unavailable)
  }
  project.provide('minio', 'unavailable' in minio ? undefined : addressOf(minio))
  project.provide('postgres', 'unavailable' in postgres ? undefined : postgres.url)
  return async () => {
    if (!('unavailable' in minio)) await minio.stop()
    if (!('unavailable' in postgres)) await postgres.stop()
  }
}

function report(reason: string): void {
  if (process.env['REQUIRE_SERVICES'] === '1') throw new Error(reason)
  console.warn(`SKIPPED, and worth mending: ${reason}`)
}

function addressOf(minio: MinioAddress): MinioAddress {
  const { endpoint, accessKeyId, secretAccessKey, region } = minio
  return { endpoint, accessKeyId, secretAccessKey, region }
}
