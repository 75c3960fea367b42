import type { IncomingHttpHeaders } from 'node:http'
import {
  includesEntityTag,
  isModifiedSince,
  type Precondition,
} from '../../core/files/precondition.ts'
import { parseIfMatch, parseIfNoneMatch } from './entity-tags.ts'
import { parseHttpDate } from './http-date.ts'

/** All that the headers of a request can demand. A write knows but the `Precondition` in it. */
export interface Preconditions extends Precondition {
  /** Milliseconds since 1970. */
  readonly ifModifiedSince?: number | undefined
}

/** What a request's conditions are held against. */
export interface Validators {
  /** Strong, without quotes. */
  readonly etag: string
  /** Milliseconds since 1970. */
  readonly lastModified: number
}

/** Throws `invalid_parameter` for malformed entity-tags. A date that is none is no condition, as the RFC has it. */
export function parsePreconditions(headers: IncomingHttpHeaders): Preconditions {
  return { ...conditionsOf(headers), ifModifiedSince: dateOf(headers['if-modified-since']) }
}

/** What the headers of a write demand, or `undefined` for nothing. Throws as `parsePreconditions` does. */
export function parseWritePrecondition(headers: IncomingHttpHeaders): Precondition | undefined {
  const precondition = conditionsOf(headers)
  const demandsAny = Object.values(precondition).some((condition) => condition !== undefined)
  return demandsAny ? precondition : undefined
}

/**
 * Decides on a GET or HEAD of what is there, in the order of RFC 9110 section 13.2.2: an entity-tag outranks the
 * date of its kind, and what would fail is told before what has not changed.
 */
export function evaluatePreconditions(
  conditions: Preconditions,
  { etag, lastModified }: Validators,
): 'met' | 'not_modified' | 'failed' {
  const { ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince } = conditions
  if (ifMatch !== undefined) {
    if (!includesEntityTag(ifMatch, etag)) return 'failed'
  } else if (ifUnmodifiedSince !== undefined) {
    if (isModifiedSince(lastModified, ifUnmodifiedSince)) return 'failed'
  }
  if (ifNoneMatch !== undefined) {
    if (includesEntityTag(ifNoneMatch, etag)) return 'not_modified'
  } else if (ifModifiedSince !== undefined) {
    if (!isModifiedSince(lastModified, ifModifiedSince)) return 'not_modified'
  }
  return 'met'
}

function conditionsOf(headers: IncomingHttpHeaders): Precondition {
  return {
    ifMatch: parseIfMatch(headers['if-match']),
    ifNoneMatch: parseIfNoneMatch(headers['if-none-match']),
    ifUnmodifiedSince: dateOf(headers['if-unmodified-since']),
  }
}

function dateOf(header: string | undefined): number | undefined {
  return header === undefined ? undefined : parseHttpDate(header)
}
