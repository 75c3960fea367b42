import { assertMaySetVisibility, coversName } from '../../core/auth/scope.ts'
import type { AppError } from '../../core/errors.ts'
import type { FileChange } from '../../core/files/file-change.ts'
import { assertMayHold } from '../../core/files/file-name.ts'
import { fileExists, fileNotFound, type File } from '../../core/files/file.ts'
import type {
  FileDeletion,
  FileOperation,
  FileUpdate,
  Lenient,
  VersionRestore,
} from '../../core/files/operation.ts'
import { metadataBytes } from '../../core/files/metadata.ts'
import { updatedFile } from '../../core/files/patch.ts'
import { isMet, type Precondition, preconditionFailed } from '../../core/files/precondition.ts'
import { versionGoneFor, versionNotFound } from '../../core/history/past-version.ts'
import { endExpired } from '../ledger/apply-changes.ts'
import type { Holdings } from './holdings.ts'

/** What an operation does. */
export interface Planned {
  /** After it; `undefined` if it is deleted, or was missing. */
  readonly file: File | undefined
  readonly changes: readonly FileChange[]
  /** The number of files that an operation by prefix is for. */
  readonly matched?: number
}

/** What the operation changes in the holdings. Throws the refusals of `FileLedger.changeFiles` but those of the quota. */
export function planOperation(held: Holdings, operation: FileOperation): Planned {
  switch (operation.op) {
    case 'delete':
      return planDeletion(held, operation)
    case 'update':
      return planUpdate(held, operation)
    case 'restore':
      return planRestore(held, operation)
  }
}

const NOTHING: Planned = { file: undefined, changes: [] }

/** Throws the refusal, unless the operation does nothing then. */
export function missing({ ignoresMissing = false }: Lenient, refusal: AppError): Planned {
  if (ignoresMissing) return NOTHING
  throw refusal
}

function planDeletion(held: Holdings, operation: FileDeletion & Lenient): Planned {
  const { file: old } = held.fileNamed(operation.name)
  if (old === undefined) return missing(operation, fileNotFound())
  assertMet(operation, old)
  return { file: undefined, changes: [{ type: 'deleted', old }] }
}

function planUpdate(held: Holdings, operation: FileUpdate & Lenient): Planned {
  const { newName: name = operation.name, overwrite } = operation
  const { file: old } = held.fileNamed(operation.name)
  if (old === undefined) return missing(operation, fileNotFound())
  assertMet(operation, old)
  const { file: displaced, expired } =
    name === old.name ? { file: undefined, expired: undefined } : held.fileNamed(name)
  if (displaced !== undefined && !overwrite) throw fileExists()
  const file = updatedFile(old, operation, held.now)
  const changes: FileChange[] = [...endExpired(expired), { type: 'updated', file, old }]
  if (displaced !== undefined) changes.unshift({ type: 'deleted', old: displaced })
  return { file, changes }
}

function planRestore(held: Holdings, operation: VersionRestore & Lenient): Planned {
  const { scope, overwrite } = operation
  const found = held.pastVersion(operation.version)
  if (found === 'gone') return missing(operation, versionGoneFor({ scope }))
  if (found === undefined || !coversName({ scope }, found.past.name)) {
    return missing(operation, versionNotFound())
  }
  const { past } = found
  const { name = past.name } = operation
  assertMayHold(name, past.size)
  const { file: old, expired } = held.fileNamed(name)
  const visibility = old?.visibility ?? past.visibility
  if (visibility !== 'private') assertMaySetVisibility({ scope }, visibility)
  assertMet(operation, old)
  if (old !== undefined && !overwrite) throw fileExists()
  const { userId, version, objectKey, size, sha256, crc32 } = past
  const { mediaType, metadata, deviceId, fileExpiresAt } = past
  const file: File = {
    userId,
    name,
    version,
    objectKey,
    size,
    sha256,
    crc32,
    visibility,
    createdAt: old?.createdAt ?? past.createdAt,
    updatedAt: held.now,
    mediaType,
    metadata,
    deviceId,
    expiresAt: fileExpiresAt,
    isKept: old?.isKept ?? 0,
    metadataBytes: metadataBytes(metadata),
    modifiedAt: 0,
    storedBy: held.credential ?? null,
  }
  return { file, changes: [...endExpired(expired), { type: 'restored', file, old }] }
}

function assertMet(
  { precondition = {} }: { readonly precondition?: Precondition | undefined },
  file: File | undefined,
): void {
  if (!isMet(precondition, file)) throw preconditionFailed(precondition)
}
