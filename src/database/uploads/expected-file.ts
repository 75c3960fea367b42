import type { CommitUpload } from '../../core/uploads/upload-ledger.ts'

/** A precondition as a statement of a batch compares it. */
export interface Expected {
  /** The version of the existing file, `NO_FILE`, or `null` for either. */
  readonly expected: string | null
}

export const NO_FILE = ''

/**
 * `undefined` for preconditions other than "no file" and "this version", and for uploads that evict, and those by a link.
 */
export function expectedBy({
  precondition,
  linkId,
  evict,
}: Pick<CommitUpload, 'precondition' | 'linkId' | 'evict'>): string | null | undefined {
  const { ifMatch, ifNoneMatch, ifUnmodifiedSince, mustExist } = precondition ?? {}
  if (mustExist === true || linkId !== undefined || evict !== undefined) return undefined
  if (ifMatch === undefined && ifUnmodifiedSince === undefined) {
    if (ifNoneMatch === undefined) return null
    return ifNoneMatch === '*' ? NO_FILE : undefined
  }
  // `If-Match` overrides `If-Unmodified-Since` (RFC 9110, 13.1.4).
  if (ifNoneMatch !== undefined || ifMatch === undefined || ifMatch === '*') return undefined
  const [version] = ifMatch
  return version === NO_FILE || ifMatch.length > 1 ? undefined : version
}
