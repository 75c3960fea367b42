import type { FastifyInstance } from 'fastify'
import { mayFinish } from '../../../core/auth/scope.ts'
import type { Subject } from '../../../core/auth/subject.ts'
import { isVersion } from '../../../core/objects/object-key.ts'
import type { ResumableUpload } from '../../../core/resumable/resumable-ledger.ts'
import type { ResumableUploads } from '../../../core/resumable/resumable-uploads.ts'
import { subjectOf } from '../../server/request-subject.ts'
import type { MountedRoute } from '../mounted-route.ts'
import { type PageQuery, type ReadList, readPage, textsOf } from '../pagination.ts'
import { UPLOAD_ACTIONS } from './requested-upload.ts'

interface UploadListMount {
  readonly route: MountedRoute
  readonly readList: ReadList
  /** What the subject sees of an upload. */
  readonly show: (subject: Subject, upload: ResumableUpload) => object
}

/** Adds the list of the unfinished uploads that the subject may continue. */
export function addUploadList(
  app: FastifyInstance,
  uploads: Pick<ResumableUploads, 'list'>,
  { route, readList, show }: UploadListMount,
): void {
  app.route({
    ...route,
    handler: async (request, reply) => {
      const subject = subjectOf(request, UPLOAD_ACTIONS)
      const { entries, next_cursor } = await readPage(request.query as PageQuery, {
        read: (key) => textsOf(key, 1)?.find(isVersion),
        list: (page) => readList(reply, () => uploads.list({ subject, ...page })),
        keyOf: ({ version }) => [version],
      })
      const seen = entries.filter((upload) => mayFinish(subject, upload))
      return { uploads: seen.map((upload) => show(subject, upload)), next_cursor }
    },
  })
}
