import type { Scope } from '../auth/scope.ts'
import { AppError } from '../errors.ts'
import type { Version } from '../objects/object-key.ts'
import type { FileName } from './file-name.ts'
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

/** One change that a user asks for. */
export type FileOperation = (
  | (FileDeletion & { readonly op: 'delete' })
  | (FileUpdate & { readonly op: 'update' })
  | (VersionRestore & { readonly op: 'restore' })
) & {
  /** Whether to do nothing, instead of refusing, if there is no such file or version. */
  readonly ignoresMissing?: boolean | undefined
}

/** Of one batch. */
export const MAX_OPERATIONS = 1_000

/** The refusal of an operation of a batch, which names the operation by its index. */
export function refusalOfOperation(refusal: AppError, operation: number): AppError {
  const { code, message, facts, cause } = refusal
  return new AppError(code, message, { cause, facts: { ...facts, operation } })
}
