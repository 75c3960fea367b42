import { invalidParameter } from '../errors.ts'
import type { File, Visibility } from './file.ts'
import { assertMayHold, type FileName } from './file-name.ts'
import type { MediaType } from './media-type.ts'
import { mergeMetadata, metadataBytes, type MetadataPatch } from './metadata.ts'

/** What is to change of a file. `undefined` keeps a member as it is. */
export interface FilePatch {
  readonly newName?: FileName | undefined
  readonly visibility?: Visibility | undefined
  readonly isKept?: boolean | undefined
  /** `NEVER` ends an expiry. */
  readonly expiresAt?: number | undefined
  readonly mediaType?: MediaType | null | undefined
  /** Merged into the metadata. */
  readonly metadata?: MetadataPatch | undefined
}

/**
 * The file after the patch, with the same version, object and dates; the commit gives it new ones. `now` is the time of
 * the change. Throws as `assertMayHold`, and `invalid_parameter` for an `expiresAt` that is over, and for metadata that
 * become larger than 2 KiB.
 */
export function updatedFile(old: File, patch: FilePatch, now: number): File {
  const { newName: name = old.name, visibility = old.visibility, isKept, expiresAt } = patch
  const { mediaType = old.mediaType, metadata } = patch
  assertMayHold(name, old.size)
  if (expiresAt !== undefined && expiresAt <= now) {
    throw invalidParameter('expires_at', 'expires_at must be in the future.')
  }
  const described = metadata === undefined ? old.metadata : mergeMetadata(old.metadata, metadata)
  return {
    ...old,
    name,
    visibility,
    isKept: isKept === undefined ? old.isKept : isKept ? 1 : 0,
    expiresAt: expiresAt ?? old.expiresAt,
    mediaType,
    metadata: described,
    metadataBytes: metadata === undefined ? old.metadataBytes : metadataBytes(described),
  }
}
