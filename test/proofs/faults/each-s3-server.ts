import { isSkipped, warnNotRun, whyMissing } from '../../support/servers/needs.ts'
import { chosenS3Server, type KnownS3Server, S3_SERVERS } from '../../support/servers/s3-servers.ts'

/** The servers that docs/storage.md recommends for something, and the one that TEST_S3_SERVER names. */
export async function eachS3Server(): Promise<
  readonly (Pick<KnownS3Server, 'title' | 'program' | 'syncs'> & { readonly isMissing: boolean })[]
> {
  const { minio, versitygw, seaweedfs } = S3_SERVERS
  const servers = new Set<KnownS3Server>([minio, versitygw, seaweedfs, chosenS3Server()])
  return Promise.all(
    [...servers].map(async (server) => {
      const reason = await whyMissing(server.program())
      // What takes too long to install in CI.
      const isOptional = server === seaweedfs
      if (isOptional && reason !== undefined) warnNotRun(reason)
      const isMissing = isOptional ? reason !== undefined : isSkipped(reason)
      const { title, program, syncs } = server
      return { title, program, syncs, isMissing }
    }),
  )
}
