import type { FastifyRequest } from 'fastify'
import type { TokenCaller } from '../../../core/auth/access-tokens.ts'
import { assertMayFinish } from '../../../core/auth/scope.ts'
import type { Version } from '../../../core/objects/object-key.ts'
import type { ResumableUploads } from '../../../core/resumable/resumable-uploads.ts'
import { uploadNotFound } from '../../../core/resumable/refusals.ts'
import { requireUser } from '../access-token.ts'
import { uploadId } from './upload-path.ts'

export interface OwnUpload extends TokenCaller {
  readonly version: Version
}

/**
 * The upload in the path. Throws as `requireUser` and `uploadId` do, and if another token has created an upload that this
 * one may not finish: its name, precondition and visibility do not change, so the commit need not ask again.
 */
export async function ownUpload(
  request: FastifyRequest,
  uploads: Pick<ResumableUploads, 'find'>,
): Promise<OwnUpload> {
  const caller = requireUser(request, 'create', 'replace')
  const version = uploadId(request)
  const { userId, userCreatedAt, scope } = caller
  if (scope !== undefined) {
    const { upload } = await uploads.find({ userId, userCreatedAt, version })
    if (!upload.name.startsWith(scope.prefix)) throw uploadNotFound()
    assertMayFinish(caller, upload)
  }
  return { ...caller, version }
}
