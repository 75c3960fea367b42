import type { FastifyRequest } from 'fastify'
import type { FileName } from '../../../core/files/file-name.ts'
import type { Repository } from '../../../core/files/repository.ts'
import type { TokenCaller } from '../../../core/auth/access-tokens.ts'
import { type Action, assertCovers } from '../../../core/auth/scope.ts'
import type { TakeJsonOptions } from '../../body/json-body.ts'
import { fileNameParam } from '../../shared-routes/file-resource.ts'
import { requireUser } from '../access-token.ts'

export interface FileRouteOptions extends TakeJsonOptions {
  readonly repository: Repository
}

export const OWN_FILE_PATH = '/users/me/repo/:file_name'

export interface OwnFile extends TokenCaller {
  readonly name: FileName
}

/** Throws as `requireUser` and `fileNameParam` do, and `scope_insufficient` for a name outside the token's prefix. */
export function ownFile(request: FastifyRequest, anyOf: readonly [Action, ...Action[]]): OwnFile {
  const { file_name } = request.params as { readonly file_name: string }
  const caller = requireUser(request, anyOf)
  const name = fileNameParam(file_name)
  assertCovers(caller, name)
  return { ...caller, name }
}
