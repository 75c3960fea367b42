import { AppError, isAppError } from '../../core/errors.ts'
import type { FileChange } from '../../core/files/file-change.ts'
import { fileExists, fileNotFound, type File } from '../../core/files/file.ts'
import { parseFileName } from '../../core/files/file-name.ts'
import type { PrefixOperation, PrefixRename } from '../../core/files/operation.ts'
import { updatedFile } from '../../core/files/patch.ts'
import { endExpired } from '../ledger/apply-changes.ts'
import type { Holdings } from './holdings.ts'
import type { MatchingFiles } from './matching-files.ts'
import { missing, type Planned } from './plan-operation.ts'

/** As `planOperation`, for all files that the prefix matches. */
export async function planByPrefix(
  { held, matching }: { readonly held: Holdings; readonly matching: MatchingFiles },
  operation: PrefixOperation,
): Promise<Planned> {
  const files = await matching.match(operation.prefix)
  const matched = files.length
  if (matched === 0) return { ...missing(operation, fileNotFound()), matched }
  const changes =
    operation.op === 'delete-prefix'
      ? files.map((old) => ({ type: 'deleted', old }) as const)
      : await planRename(operation, { files, held, matching })
  return { file: undefined, changes, matched }
}

interface Found {
  readonly files: readonly File[]
  readonly held: Holdings
  readonly matching: MatchingFiles
}

async function planRename(
  operation: PrefixRename,
  { files, held, matching }: Found,
): Promise<readonly FileChange[]> {
  const renames = files.map((old) => ({ old, file: renamed(old, operation, held.now) }))
  const moving = new Set(files.map(({ name }) => name))
  const others = renames.flatMap(({ file: { name } }) => (moving.has(name) ? [] : name))
  await matching.load(others)
  const changes: FileChange[] = []
  for (const { old, file } of inOrder(renames, operation)) {
    const { name } = file
    const { file: displaced, expired } = moving.has(name) ? FREED : held.fileNamed(name)
    if (displaced !== undefined) {
      if (!operation.overwrite) throw naming(fileExists(), name)
      changes.push({ type: 'deleted', old: displaced })
    }
    changes.push(...endExpired(expired), { type: 'updated', file, old })
  }
  return changes
}

/** A new name whose own file is also renamed. */
const FREED = { file: undefined, expired: undefined }

interface Rename {
  readonly old: File
  readonly file: File
}

/** In which no file takes a name that another one still has: all names become longer, or shorter, by the same length. */
function inOrder(
  renames: readonly Rename[],
  { prefix, newPrefix }: PrefixRename,
): readonly Rename[] {
  const growth = newPrefix.length - prefix.length
  return renames.toSorted((a, b) => growth * (b.old.name.length - a.old.name.length))
}

/** Throws `invalid_file_name`, with the name. */
function renamed(old: File, { prefix, newPrefix }: PrefixRename, now: number): File {
  const text = `${newPrefix}${old.name.slice(prefix.length)}`
  try {
    return updatedFile(old, { newName: parseFileName(text) }, now)
  } catch (error) {
    throw isAppError(error) ? naming(error, text) : error
  }
}

function naming({ code, message, facts }: AppError, name: string): AppError {
  return new AppError(code, message, { facts: { ...facts, name } })
}
