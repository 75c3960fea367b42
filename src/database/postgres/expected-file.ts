import type { Precondition } from '../../core/files/precondition.ts'

export interface Expected {
  /** The version of the existing file, `NO_FILE`, or `null` for either. */
  readonly expected: string | null
}

export const NO_FILE = ''

/** `undefined` for preconditions other than "no file" and "this version". */
export function expectedBy(precondition: Precondition | undefined): string | null | undefined {
  const { ifMatch, ifNoneMatch, ifUnmodifiedSince, mustExist } = precondition ?? {}
  if (mustExist === true) return undefined
  if (ifMatch === undefined && ifUnmodifiedSince === undefined) {
    if (ifNoneMatch === undefined) return null
    return ifNoneMatch === '*' ? NO_FILE : undefined
  }
  // `If-Match` overrides `If-Unmodified-Since` (RFC 9110, 13.1.4).
  if (ifNoneMatch !== undefined || ifMatch === undefined || ifMatch === '*') return undefined
  const [version] = ifMatch
  return version === NO_FILE || ifMatch.length > 1 ? undefined : version
}
