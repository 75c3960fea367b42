import { startPostgres } from '../../support/servers/postgres.ts'
import { findS3Server } from '../../support/servers/s3-server.ts'
import { chosenS3Server } from '../../support/servers/s3-servers.ts'
import type { Places } from './world.ts'

/** The values of `--database` and `--objects`. */
export interface AskedPlaces {
  readonly database: string
  readonly objects: string
}

/** Whether both values are valid. */
export function areKnown({ database, objects }: AskedPlaces): boolean {
  return ['sqlite', 'postgres'].includes(database) && ['file', 's3'].includes(objects)
}

/** Finds or starts the requested servers, which stop with `opened`. Rejects if a server is unavailable. */
export async function openPlaces(
  { database, objects }: AskedPlaces,
  opened: AsyncDisposableStack,
): Promise<Places> {
  const postgres = database === 'postgres' ? await found(startPostgres(), opened) : undefined
  const s3 = objects === 's3' ? await found(findS3Server(chosenS3Server()), opened) : undefined
  return { postgres: postgres?.url, s3: s3?.address, restartS3: s3?.restart }
}

async function found<T extends { stop(): Promise<void> }>(
  starting: Promise<T | { readonly unavailable: string }>,
  opened: AsyncDisposableStack,
): Promise<T> {
  const server = await starting
  if ('unavailable' in server) throw new Error(server.unavailable)
  opened.defer(() => server.stop())
  return server
}
