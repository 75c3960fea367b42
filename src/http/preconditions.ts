import type { IncomingHttpHeaders } from 'node:http'
import {
  type EntityTagList,
  includesEntityTag,
  parseIfMatch,
  parseIfNoneMatch,
} from './entity-tag-list.ts'
import { parseHttpDate } from './http-date.ts'

/** What a request demands of the state of a file; times in milliseconds, compared in whole seconds. */
export interface Preconditions {
  readonly ifMatch: EntityTagList | undefined
  readonly ifNoneMatch: EntityTagList | undefined
  readonly ifModifiedSince: number | undefined
  readonly ifUnmodifiedSince: number | undefined
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
  return {
    ifMatch: parseIfMatch(headers['if-match']),
    ifNoneMatch: parseIfNoneMatch(headers['if-none-match']),
    ifModifiedSince: dateOf(headers['if-modified-since']),
    ifUnmodifiedSince: dateOf(headers['if-unmodified-since']),
  }
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
    if (seconds(lastModified) > seconds(ifUnmodifiedSince)) return 'failed'
  }
  if (ifNoneMatch !== undefined) {
    if (includesEntityTag(ifNoneMatch, etag)) return 'not_modified'
  } else if (ifModifiedSince !== undefined) {
    if (seconds(lastModified) <= seconds(ifModifiedSince)) return 'not_modified'
  }
  return 'met'
}

function dateOf(header: string | undefined): number | undefined {
  return header === undefined ? undefined : parseHttpDate(header)
}

function seconds(timeMs: number): number {
  return Math.floor(timeMs / 1000)
}
