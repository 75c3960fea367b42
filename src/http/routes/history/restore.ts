import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { assertCovers, type Scoped } from '../../../core/auth/scope.ts'
import type { Subject } from '../../../core/auth/subject.ts'
import { type FileName, parseFileName } from '../../../core/files/file-name.ts'
import type { Precondition } from '../../../core/files/precondition.ts'
import type { FindPast, History } from '../../../core/history/history.ts'
import { isVersion, type Version } from '../../../core/objects/object-key.ts'
import type { CommittedUpload } from '../../../core/uploads/upload-ledger.ts'
import { pathNotFound } from '../../server/problem.ts'
import { subjectOf } from '../../server/request-subject.ts'
import type { MountedRoute } from '../mounted-route.ts'
import type { RestoreBody } from './past-version-resource.ts'

interface RestoreMount {
  readonly route: MountedRoute
  /** Of the current file with that name. */
  readonly preconditionOf?: (request: FastifyRequest, subject: Subject) => Precondition | undefined
  /** Called when the version is the current file, before the answer. */
  readonly onRestored?: (request: FastifyRequest, restored: Restored) => Promise<void>
  readonly show: (subject: Subject, committed: CommittedUpload) => object
}

interface Restored {
  readonly version: Version
  readonly overwrite: boolean
}

/** Adds the route that makes a past version the current file. Its body is a `RestoreBody`. */
export function addRestore(
  app: FastifyInstance,
  history: Pick<History, 'restore'>,
  { route, preconditionOf, onRestored, show }: RestoreMount,
): void {
  app.route({
    ...route,
    handler: async (request) => {
      const { subject, version } = pastVersion(request)
      const asked = permittedRestore(subject, request.body as Static<typeof RestoreBody>)
      const precondition = preconditionOf?.(request, subject)
      const committed = await history.restore({ subject, version, ...asked, precondition })
      await onRestored?.(request, { version, overwrite: asked.overwrite })
      return show(subject, committed)
    },
  })
}

/** The version in the path. Throws as `subjectOf` does, and `not_found` for text that is no version. */
export function pastVersion(request: FastifyRequest): FindPast {
  const { version } = request.params as { readonly version: string }
  const subject = subjectOf(request, ['history'])
  if (isVersion(version)) return { subject, version }
  throw pathNotFound()
}

/** Besides `history`, a restore needs one of these: it puts a file under a name, as an upload does. */
export const RESTORE_ACTIONS = ['create', 'replace'] as const

/**
 * The name and what happens to a file that has it. Throws `invalid_file_name`, and `scope_insufficient` for a name outside
 * the prefix.
 */
export function permittedRestore(
  subject: Scoped,
  asked: { readonly name?: string | undefined; readonly overwrite?: boolean | undefined },
): { readonly name: FileName | undefined; readonly overwrite: boolean } {
  const name = asked.name === undefined ? undefined : parseFileName(asked.name)
  if (name !== undefined) assertCovers(subject, name)
  return { name, overwrite: asked.overwrite ?? false }
}
