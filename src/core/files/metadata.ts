import { type AppError, invalidParameter } from '../errors.ts'

declare const brand: unique symbol

/** What a client keeps with a file: compact JSON of an object of strings, at most 2 KiB in UTF-8. */
export type Metadata = string & { readonly [brand]: 'Metadata' }

export const MAX_METADATA_BYTES = 2048

/** Metadata of so many bytes count nothing, as do the name, of at most 1,024, and the media type, of at most 255. */
export const FREE_METADATA_BYTES = 256

/** The bytes that a file counts for its metadata. Without this, empty files would be storage beside the capacity. */
export function metadataBytes(metadata: Metadata | null | undefined): number {
  return Math.max(0, Buffer.byteLength(metadata ?? '') - FREE_METADATA_BYTES)
}

/** Recorded as `null`. An upload that sends it removes the metadata of the replaced file. */
export const NO_METADATA = '{}' as Metadata

/** A merge patch (RFC 7396): `null` removes a member, or all of them. */
export type MetadataPatch = Readonly<Record<string, string | null>> | null

/** Throws `invalid_parameter` unless `text` is a JSON object of strings, at most 2 KiB without its white space. */
export function parseMetadata(text: string, parameter = 'metadata'): Metadata {
  const members = objectIn(text)
  if (
    members === undefined ||
    !Object.values(members).every((value) => typeof value === 'string')
  ) {
    throw invalidMetadata(parameter)
  }
  return format(members, parameter)
}

/** Throws `invalid_parameter` unless each member is a string or `null`. */
export function parseMetadataPatch(patch: object | null): MetadataPatch {
  const values: unknown[] = Object.values(patch ?? {})
  if (values.every((value) => value === null || typeof value === 'string')) {
    return patch as MetadataPatch
  }
  throw invalidParameter('metadata', 'metadata may only have members that are strings or null.')
}

/** The metadata after a patch; `null` if there is none. Throws `invalid_parameter` if it is more than 2 KiB. */
export function mergeMetadata(old: Metadata | null, patch: MetadataPatch): Metadata | null {
  if (patch === null) return null
  const merged = { ...membersOf(old), ...patch }
  const kept = Object.entries(merged).filter(([, value]) => value !== null)
  return kept.length === 0 ? null : format(Object.fromEntries(kept), 'metadata')
}

export function membersOf(metadata: Metadata | null): Readonly<Record<string, string>> {
  return JSON.parse(metadata ?? NO_METADATA) as Readonly<Record<string, string>>
}

/** Refuses what is not valid Unicode, and the name that breaks programs which keep the members in an object. */
function format(members: object, parameter: string): Metadata {
  const text = JSON.stringify(members)
  const entries = Object.entries(members as Readonly<Record<string, string>>)
  const isClean = entries.every(
    ([name, value]) => name !== '__proto__' && name.isWellFormed() && value.isWellFormed(),
  )
  if (isClean && Buffer.byteLength(text) <= MAX_METADATA_BYTES) return text as Metadata
  throw invalidMetadata(parameter)
}

function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

function invalidMetadata(parameter: string): AppError {
  const detail = `${parameter} must be a JSON object of strings, at most ${MAX_METADATA_BYTES} bytes.`
  return invalidParameter(parameter, detail)
}
