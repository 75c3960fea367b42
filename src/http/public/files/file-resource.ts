import type { FastifyRequest } from 'fastify'
import type { TokenCaller } from '../../../core/auth/access-tokens.ts'
import {
  type Action,
  assertCovers,
  assertMayCompare,
  type Scoped,
} from '../../../core/auth/scope.ts'
import type { FileName } from '../../../core/files/file-name.ts'
import type { Precondition } from '../../../core/files/precondition.ts'
import { parseWritePrecondition } from '../../headers/preconditions.ts'
import { fileNameParam } from '../../shared-routes/file-resource.ts'
import { requireUser } from '../access-token.ts'

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

/** The preconditions of a change. Throws as their parser and `assertMayCompare` do. */
export function writePrecondition(
  { headers }: FastifyRequest,
  caller: Scoped,
): Precondition | undefined {
  const precondition = parseWritePrecondition(headers)
  assertMayCompare(caller, precondition)
  return precondition
}
