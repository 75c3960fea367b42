import type { Scope } from '../auth/scope.ts'
import { AppError } from '../errors.ts'
import type { Version } from '../objects/object-key.ts'
import type { FileName, FileNamePrefix } from './file-name.ts'
import type { FilePatch } from './patch.ts'
import type { Precondition } from './precondition.ts'

export interface FileDeletion {
  readonly name: FileName
  readonly precondition?: Precondition | undefined
}

/** What an update changes. Keeps the content. */
export interface UpdateTerms extends FilePatch {
  /** Whether another file that has the new name is deleted. */
  readonly overwrite: boolean
}

export interface FileUpdate extends FileDeletion, UpdateTerms {}

/** How a past version is made the current file. */
export interface RestoreTerms {
  /** `undefined`: the name that the file had. */
  readonly name: FileName | undefined
  readonly overwrite: boolean
  /** Of the current file with that name. */
  readonly precondition?: Precondition | undefined
}

/** Makes a past version the current file. */
export interface VersionRestore extends RestoreTerms {
  readonly version: Version
  /** What the subject's scope permits of past versions; `undefined` permits everything. */
  readonly scope?: Scope | undefined
}

export interface Lenient {
  /** Whether to do nothing, instead of refusing, if there is no such file or version. */
  readonly ignoresMissing?: boolean | undefined
}

/** One change that a user asks for. */
export type FileOperation = (
  | (FileDeletion & { readonly op: 'delete' })
  | (FileUpdate & { readonly op: 'update' })
  | (VersionRestore & { readonly op: 'restore' })
) &
  Lenient

/** Deletes all files whose names begin with the prefix. */
export interface PrefixDeletion extends Lenient {
  readonly op: 'delete-prefix'
  readonly prefix: FileNamePrefix
}

/**
 * Gives all files whose names begin with the prefix names that begin with `newPrefix` instead, all at once: no file is
 * renamed twice, and none of them is in the way of another.
 */
export interface PrefixRename extends Lenient {
  readonly op: 'rename-prefix'
  readonly prefix: FileNamePrefix
  readonly newPrefix: FileNamePrefix
  /** Whether other files that have the new names are deleted. */
  readonly overwrite: boolean
}

export type PrefixOperation = PrefixDeletion | PrefixRename

export type BatchOperation = FileOperation | PrefixOperation

export function isByPrefix(operation: BatchOperation): operation is PrefixOperation {
  return operation.op === 'delete-prefix' || operation.op === 'rename-prefix'
}

/** Of one batch. Operations by prefix count as many as the files that they match. */
export const MAX_OPERATIONS = 1_000

/** The names that the prefixes of one batch may read. A refusal counts the files that a prefix matches up to here. */
export const MAX_MATCHED = 10_000

/** The refusal of an operation of a batch, which names the operation by its index. */
export function refusalOfOperation(refusal: AppError, operation: number): AppError {
  const { code, message, facts, cause } = refusal
  return new AppError(code, message, { cause, facts: { ...facts, operation } })
}
