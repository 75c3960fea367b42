import type { FastifyRequest } from 'fastify'
import type { TokenCaller } from '../../../core/auth/access-tokens.ts'
import { assertMayFinish, coversName, hasPrefix, type Scoped } from '../../../core/auth/scope.ts'
import { isAppError } from '../../../core/errors.ts'
import type { Version } from '../../../core/objects/object-key.ts'
import type { NamedResumable } from '../../../core/resumable/resumable-ledger.ts'
import type { FoundUpload, ResumableUploads } from '../../../core/resumable/resumable-uploads.ts'
import { uploadNotFound } from '../../../core/resumable/refusals.ts'
import { requireUser } from '../access-token.ts'
import { uploadId } from './upload-path.ts'

export interface OwnUpload extends TokenCaller {
  readonly version: Version
}

/**
 * The upload in the path. Throws as `requireUser` and `uploadId` do, and if another token has created an upload that this
 * one may not finish: its name, precondition, visibility and what it evicts do not change, so the commit need not ask again.
 */
export async function ownUpload(
  request: FastifyRequest,
  uploads: Pick<ResumableUploads, 'find'>,
): Promise<OwnUpload> {
  const caller = requireUser(request, ['create', 'replace'])
  const version = uploadId(request)
  const { userId, userCreatedAt, scope } = caller
  if (scope !== undefined) {
    const { upload } = await found(uploads, { userId, userCreatedAt, version }, caller)
    if (!coversName(caller, upload.name)) throw uploadNotFound()
    if (upload.state !== 'finished') assertMayFinish(caller, upload)
  }
  return { ...caller, version }
}

/** How an upload ended tells that there was one, perhaps outside the prefix. */
async function found(
  uploads: Pick<ResumableUploads, 'find'>,
  named: NamedResumable,
  caller: Scoped,
): Promise<FoundUpload> {
  try {
    return await uploads.find(named)
  } catch (error) {
    throw isAppError(error, 'upload_gone') && hasPrefix(caller) ? uploadNotFound() : error
  }
}
