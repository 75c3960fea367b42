import type { TestProject } from 'vitest/node'
import { migrate } from '../../../src/database/migrate.ts'
import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import { createDatabase, startPostgres, type TestDatabase } from '../servers/postgres.ts'
import { findS3Server, type S3Address } from '../servers/s3-server.ts'
import { chosenS3Server, S3_SERVERS } from '../servers/s3-servers.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * MinIO, or the server that TEST_S3_SERVER names. `undefined` when it could not be had; the tests that need it are
     * skipped, and the run says why at its end.
     */
    minio: S3Address | undefined
    /** A second S3 server, or `undefined` as above. */
    versitygw: S3Address | undefined
    /** URL of a PostgreSQL server on which databases can be made, or `undefined` as above. */
    postgres: string | undefined
    /** The folder of its socket, if it runs on this machine. */
    postgresSockets: string | undefined
    /** Name of a database on it that is migrated and has no rows, to be copied. */
    migrated: string | undefined
    /** Why any of these is missing. */
    missingServices: readonly string[] | undefined
  }
}

/**
 * Starts the real servers of the integration project and stops them at its end. With REQUIRE_SERVICES=1 (CI)
 * a server that is missing ends the run as a failure; else its tests are skipped, and the run names it at its end.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const services = await Promise.all([
    findS3Server(chosenS3Server()),
    findS3Server(S3_SERVERS.versitygw),
    startPostgres(),
  ])
  const [minio, versitygw, postgres] = services
  const migrated = 'unavailable' in postgres ? undefined : await createMigrated(postgres.url)
  const stop = async (): Promise<void> => {
    await migrated?.drop()
    for (const service of services) if (!('unavailable' in service)) await service.stop()
  }
  const missing = services.flatMap((found) => ('unavailable' in found ? [found.unavailable] : []))
  if (missing.length > 0 && process.env['REQUIRE_SERVICES'] === '1') {
    await stop()
    throw new Error(missing.join('\n'))
  }
  project.provide('missingServices', missing)
  project.provide('minio', 'unavailable' in minio ? undefined : minio.address)
  project.provide('versitygw', 'unavailable' in versitygw ? undefined : versitygw.address)
  project.provide('postgres', 'unavailable' in postgres ? undefined : postgres.url)
  project.provide('postgresSockets', 'unavailable' in postgres ? undefined : postgres.sockets)
  project.provide('migrated', migrated?.name)
  return stop
}

async function createMigrated(url: string): Promise<TestDatabase> {
  const own = await createDatabase(url)
  const database = await openPostgres({ url: own.url })
  await migrate(database)
  await database.close()
  return own
}
