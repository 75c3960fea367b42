import type { FastifyRequest } from 'fastify'
import { type Action, assertMayCompare, type Scoped } from '../../../core/auth/scope.ts'
import { nameFor, type UserSubject } from '../../../core/auth/subject.ts'
import type { FileName } from '../../../core/files/file-name.ts'
import type { Precondition } from '../../../core/files/precondition.ts'
import { parseWritePrecondition } from '../../headers/preconditions.ts'
import { fileNameParam } from '../../routes/file-resource.ts'
import { requireUser } from '../access-token.ts'

export const OWN_FILE_PATH = '/users/me/repo/:file_name'

export interface OwnFile {
  readonly subject: UserSubject
  readonly name: FileName
}

/** Throws as `requireUser` and `fileNameParam` do, and `scope_insufficient` for a name outside the token's prefix. */
export function ownFile(request: FastifyRequest, anyOf: readonly [Action, ...Action[]]): OwnFile {
  const { file_name } = request.params as { readonly file_name: string }
  const subject = requireUser(request, anyOf)
  return { subject, name: nameFor(subject, fileNameParam(file_name)) }
}

/** The preconditions of a change. Throws as their parser and `assertMayCompare` do. */
export function writePrecondition(
  { headers }: FastifyRequest,
  subject: Scoped,
): Precondition | undefined {
  const precondition = parseWritePrecondition(headers)
  assertMayCompare(subject, precondition)
  return precondition
}
