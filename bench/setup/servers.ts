import { createFolder, firstOf } from '../../test/support/servers/local-server.ts'
import { minioProgram } from '../../test/support/servers/minio.ts'
import { startDurable, startPostgres } from '../../test/support/servers/postgres.ts'
import type { RunningPostgres } from '../../test/support/servers/postgres.ts'
import {
  findS3Server,
  type S3Server,
  startS3Program,
  type Unavailable,
} from '../../test/support/servers/s3-server.ts'
import { S3_SERVERS } from '../../test/support/servers/s3-servers.ts'

/** What stacks are made of, started when the first asks for it. */
export interface Servers {
  minio(): Promise<S3Server>
  postgres(): Promise<RunningPostgres>
}

/**
 * They end with `opened`. A program of this machine is preferred, since its CPU can be read and nothing lies between.
 */
export function createServers(opened: AsyncDisposableStack): Servers {
  const findMinio = () => findS3Server(S3_SERVERS.minio)
  const minio = lazily(() => preferably(startMinioProgram, findMinio), opened)
  const postgres = lazily(() => preferably(startDurable, startPostgres), opened)
  return { minio, postgres }
}

async function startMinioProgram(): Promise<S3Server> {
  return startS3Program(await minioProgram(), createFolder)
}

async function preferably<T>(
  own: () => Promise<T>,
  other: () => Promise<T | Unavailable>,
): Promise<T> {
  const found = await firstOf<T | Unavailable>([own, other])
  if (isServer(found)) return found
  throw new Error('unavailable' in found ? found.unavailable : found.reasons)
}

function isServer<T>(found: T | Unavailable | { readonly reasons: string }): found is T {
  return (
    typeof found === 'object' && found !== null && !('unavailable' in found || 'reasons' in found)
  )
}

function lazily<T extends { stop(): Promise<void> }>(
  start: () => Promise<T>,
  opened: AsyncDisposableStack,
): () => Promise<T> {
  let server: Promise<T> | undefined
  return () => {
    server ??= start().then((started) => {
      opened.defer(() => started.stop())
      return started
    })
    return server
  }
}
