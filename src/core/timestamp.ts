import { invalidParameter } from './errors.ts'

const DATE = /\d{4}-\d\d-\d\d/.source
const TIME = /([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?/.source
const OFFSET = /(Z|[+-]([01]\d|2[0-3]):[0-5]\d)/.source
const TIMESTAMP = new RegExp(`^${DATE}T${TIME}${OFFSET}$`)

const FIRST = Date.parse('0000-01-01T00:00:00Z')
const LAST = Date.parse('9999-12-31T23:59:59.999Z')

/** Parses RFC 3339 to milliseconds since 1970, truncated; else throws `invalid_parameter` (fact `parameter`). */
export function parseTimestamp(text: string, parameter: string): number {
  const upper = text.toUpperCase()
  const time = TIMESTAMP.test(upper) && isDay(upper.slice(0, 10)) ? Date.parse(upper) : Number.NaN
  if (time >= FIRST && time <= LAST) return time
  throw invalidParameter(parameter, `${parameter} must be a time such as 2027-01-31T00:00:00Z.`)
}

/** Formats milliseconds since 1970 as RFC 3339 in UTC. */
export function formatTimestamp(ms: number): string
export function formatTimestamp(ms: number | undefined): string | null
export function formatTimestamp(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}

/** `Date.parse` accepts 30 February as 2 March. */
function isDay(text: string): boolean {
  const time = Date.parse(text)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}
