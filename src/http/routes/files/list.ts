import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { assertCoversDevice, hasPrefix, narrowPrefix } from '../../../core/auth/scope.ts'
import type { Subject } from '../../../core/auth/subject.ts'
import type { Repository } from '../../../core/repository.ts'
import type { UserId } from '../../../core/users/user-id.ts'
import type { MountedRoute } from '../mounted-route.ts'
import type { ReadList } from '../pagination.ts'
import { askedListing, listingReply } from './file-listing.ts'

interface FileListMount {
  readonly route: MountedRoute
  readonly readList: ReadList
  /** Whose files are listed, and for whom. */
  readonly readerOf: (request: FastifyRequest) => {
    readonly userId: UserId
    readonly viewer: Subject | undefined
  }
  /** If set, the first page of the own files has what this returns before the page is read. */
  readonly changesCursorOf?: (viewer: Subject) => Promise<string>
  /** Called with the number of listed files, before the answer. */
  readonly onListed?: (reply: FastifyReply, files: number) => Promise<void>
}

/** Adds the list of the files that the viewer sees. Its query is `LISTING_QUERY`. */
export function addFileList(
  app: FastifyInstance,
  repository: Pick<Repository, 'list'>,
  { route, readList, readerOf, changesCursorOf, onListed }: FileListMount,
): void {
  app.route({
    ...route,
    handler: async (request, reply) => {
      const { userId, viewer } = readerOf(request)
      const asked = askedListing(request)
      const own = viewer?.userId === userId ? viewer : undefined
      if (own !== undefined) assertCoversDevice(own, asked.deviceId)
      const page = {
        ...asked,
        userId,
        viewer,
        prefix: own === undefined ? asked.prefix : narrowPrefix(own, asked.prefix),
        hidesOthers: own !== undefined && hasPrefix(own),
      }
      const follower = asked.after === undefined ? own : undefined
      const [changes_cursor, listed] = await readList(reply, async () => [
        follower && (await changesCursorOf?.(follower)),
        await repository.list(page),
      ])
      await onListed?.(reply, listed.files.length)
      const found = listingReply(listed, asked)
      return changes_cursor === undefined ? found : { ...found, changes_cursor }
    },
  })
}
