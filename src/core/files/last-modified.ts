/** What the date of a content is derived from. Milliseconds since 1970. */
export interface Dated {
  readonly updatedAt: number
  /** See `File`. A past version has none, since its URL has one content. */
  readonly modifiedAt?: number | undefined
}

const SECOND_MS = 1000

/**
 * The date of the content for `Last-Modified` and the conditions with dates, in whole seconds. Two contents that a name
 * has had never share one: see `dateAfter`. Milliseconds since 1970.
 */
export function lastModified({ updatedAt, modifiedAt = 0 }: Dated): number {
  return Math.max(wholeSecond(updatedAt), modifiedAt)
}

/** The `modifiedAt` of a content that gets its name at `at`, after contents whose latest date is `previous`. */
export function dateAfter(previous: number, at: number): number {
  return previous < wholeSecond(at) ? 0 : previous + SECOND_MS
}

/** `Last-Modified` is not later than `Date` (RFC 9110 section 8.8.2.1). */
export function formatLastModified(file: Dated, now: number): string {
  return new Date(Math.min(lastModified(file), now)).toUTCString()
}

function wholeSecond(time: number): number {
  return Math.floor(time / SECOND_MS) * SECOND_MS
}
