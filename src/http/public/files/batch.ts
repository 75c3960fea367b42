import type { IncomingHttpHeaders } from 'node:http'
import type { FastifySchemaValidationError } from 'fastify'
import {
  ACTIONS,
  assertCovers,
  assertPermits,
  narrowPrecondition,
  type Scoped,
} from '../../../core/auth/scope.ts'
import type { UserSubject } from '../../../core/auth/subject.ts'
import { AppError, formatError, invalidParameter, isAppError } from '../../../core/errors.ts'
import {
  type FileName,
  type FileNamePrefix,
  parseFileName,
  parseFileNamePrefix,
} from '../../../core/files/file-name.ts'
import type { File } from '../../../core/files/file.ts'
import {
  type BatchOperation,
  type PrefixOperation,
  refusalOfOperation,
} from '../../../core/files/operation.ts'
import type { Precondition } from '../../../core/files/precondition.ts'
import { PRECONDITIONS } from '../../openapi/parameters.ts'
import { parameterFault, sendProblem } from '../../server/problem.ts'
import { holdSlot, ownerOf, ReaderSlots } from '../../server/reader-slots.ts'
import { requestSignal } from '../../server/request-outcome.ts'
import { seenFile } from '../../routes/files/file-resource.ts'
import { requireUser, scopeFirst } from '../access-token.ts'
import { permittedRestore, RESTORE_ACTIONS } from '../../routes/history/restore.ts'
import type { UserPlugin } from '../user-plugin.ts'
import {
  type AskedByName,
  type AskedByPrefix,
  type AskedOperation,
  BATCH,
  OPS,
} from './batch.openapi.ts'
import { remainingCapacity } from '../../routes/files/stored-file.ts'
import { assertMayRename, changesTerms, permittedChange, TERMS } from './update.ts'

/** A batch holds its body in memory, which nothing else counts. */
const LIMITS = { perOwner: 2, total: 16, counted: 'batches in progress' }

/** `POST /users/me/batch`: several changes in one transaction. */
export const batchRoutes: UserPlugin = async (app, { useCases: { repository }, shares }) => {
  const slots = new ReaderSlots(LIMITS)

  app.post(
    '/users/me/batch',
    {
      ...BATCH,
      schemaErrorFormatter: faultOf,
      // A refused operation says which action the token lacks.
      errorHandler: (error, request, reply) =>
        void sendProblem(scopeFirst(error, request, BATCH_ACTIONS), request, reply),
      onRequest: async (request, reply) => {
        requireUser(request, ACTIONS)
        assertUnconditional(request.headers)
        const reader = ownerOf(request)
        // Before it takes a slot: those who have to pause keep none from others.
        await shares.wait(reader.owner, requestSignal(reply))
        const { socket } = request.raw
        holdSlot(slots, reply, {
          kind: 'batch',
          // A batch that has arrived is no slow one.
          progress: () => (request.body === undefined ? socket.bytesRead : Infinity),
        })
        reply.raw.once('finish', shares.measure(reader.owner))
      },
    },
    async (request) => {
      const caller = requireUser(request, ACTIONS)
      const asked = request.body.operations
      const operations = asked.map((each, index) => parseOperation(caller, each, index))
      const { files, matched, usage } = await repository.changeAll({ subject: caller, operations })
      const results = asked.map((each, index) =>
        each.prefix === undefined
          ? resultOf(caller, each, files[index])
          : resultByPrefix(each, matched[index]),
      )
      return { results, ...remainingCapacity(caller, usage) }
    },
  )
}

/** An operation needs at least one of these. */
const BATCH_ACTIONS = ['delete', 'share', 'replace', 'history'] as const

/** Ignored, such a header would let a batch change files that its client believes to be others. */
function assertUnconditional(headers: IncomingHttpHeaders): void {
  const name = Object.keys(PRECONDITIONS).find((each) => each.toLowerCase() in headers)
  if (name === undefined) return
  throw invalidParameter(name, `A batch takes no ${name}: each of its operations takes if_match.`)
}

/** The refusal of a body, which names the operation at fault. */
function faultOf(
  validation: readonly FastifySchemaValidationError[],
  validationContext: string,
): AppError {
  const [fault] = validation
  const [, , index, ...members] = fault?.instancePath.split('/') ?? []
  if (fault === undefined || index === undefined) {
    return parameterFault({ validation, validationContext })
  }
  const refusal =
    fault.keyword === 'discriminator'
      ? invalidParameter('op', `op must be one of ${OPS.join(', ')}.`)
      : parameterFault({
          validation: [{ ...fault, instancePath: `/${members.join('/')}` }],
          validationContext: 'operations',
        })
  return refusalOfOperation(refusal, Number(index))
}

/** Checks the token as the single request of the operation does. Throws the same refusals, with the index. */
function parseOperation(caller: UserSubject, asked: AskedOperation, index: number): BatchOperation {
  try {
    return permittedOperation(caller, asked)
  } catch (error) {
    throw isAppError(error) ? refusalOfOperation(error, index) : error
  }
}

function permittedOperation(caller: UserSubject, asked: AskedOperation): BatchOperation {
  if (asked.prefix !== undefined) return permittedByPrefix(caller, asked)
  const { if_match: etag, ignore_missing: ignoresMissing } = asked
  const precondition = etag === undefined ? undefined : matching(etag)
  switch (asked.op) {
    case 'delete': {
      assertPermits(caller, ['delete'])
      const name = ownName(caller, asked.name)
      return { op: 'delete', name, precondition, ignoresMissing }
    }
    case 'rename': {
      const change = permittedChange(caller, { ...asked, newName: asked.new_name })
      const name = ownName(caller, asked.name)
      return { op: 'update', name, ...change, precondition, ignoresMissing }
    }
    case 'update': {
      if (!changesTerms(asked)) throw nothingToUpdate()
      const change = permittedChange(caller, asked)
      const name = ownName(caller, asked.name)
      return { op: 'update', name, ...change, precondition, ignoresMissing }
    }
    case 'restore': {
      assertPermits(caller, ['history'])
      assertPermits(caller, RESTORE_ACTIONS)
      const { version, new_name: newName, overwrite: overwrites } = asked
      const { name, overwrite } = permittedRestore(caller, { name: newName, overwrite: overwrites })
      return {
        op: 'restore',
        version,
        name,
        overwrite,
        scope: caller.scope,
        precondition: narrowPrecondition(caller, precondition),
        ignoresMissing,
      }
    }
  }
}

/** Needs `read` as well: by what prefixes match, a token could learn the names. */
function permittedByPrefix(caller: UserSubject, asked: AskedByPrefix): PrefixOperation {
  const { op, ignore_missing: ignoresMissing } = asked
  assertPermits(caller, ['delete'])
  assertPermits(caller, ['read'])
  if (op === 'delete') {
    return { op: 'delete-prefix', prefix: ownPrefix(caller, asked.prefix), ignoresMissing }
  }
  const { new_prefix: text, overwrite = false } = asked
  const newPrefix = parseNewPrefix(text)
  assertMayRename(caller, { newName: newPrefix, overwrite })
  const prefix = ownPrefix(caller, asked.prefix)
  return { op: 'rename-prefix', prefix, newPrefix, overwrite, ignoresMissing }
}

/** Throws `invalid_file_name` when no file name can begin with the text. */
function parseNewPrefix(text: string): FileNamePrefix {
  try {
    return parseFileNamePrefix(text, 'new_prefix')
  } catch (error) {
    if (!isAppError(error)) throw error
    throw new AppError('invalid_file_name', error.message, { cause: error })
  }
}

function ownPrefix(caller: UserSubject, text: string): FileNamePrefix {
  const prefix = parseFileNamePrefix(text)
  assertCovers(caller, prefix)
  return prefix
}

function matching(etag: string): Precondition {
  return { ifMatch: etag === '*' ? '*' : [etag] }
}

function ownName(caller: UserSubject, text: string): FileName {
  const name = parseFileName(text)
  assertCovers(caller, name)
  return name
}

function nothingToUpdate(): AppError {
  return formatError(`An update must contain one of ${Object.keys(TERMS).join(', ')}.`)
}

function resultOf(caller: Scoped, asked: AskedByName, file: File | undefined) {
  const { op } = asked
  const name = op === 'restore' ? (file?.name ?? asked.new_name ?? null) : asked.name
  return { op, name, file: file === undefined ? null : seenFile(caller, file) }
}

function resultByPrefix(asked: AskedByPrefix, matched: number | undefined) {
  const { op, prefix } = asked
  const renamed = op === 'rename' ? { new_prefix: asked.new_prefix } : {}
  return { op, name: null, prefix, ...renamed, matched: matched ?? 0, file: null }
}
