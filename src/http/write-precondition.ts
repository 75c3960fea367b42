import type { IncomingHttpHeaders } from 'node:http'
import type { Precondition } from '../core/precondition.ts'
import { parsePreconditions } from './preconditions.ts'

/** What the headers of a write demand of the file, or `undefined`. Throws `invalid_parameter` for malformed entity-tags. */
export function readPrecondition(headers: IncomingHttpHeaders): Precondition | undefined {
  const { ifMatch, ifNoneMatch, ifUnmodifiedSince } = parsePreconditions(headers)
  const precondition = {
    ...(ifMatch !== undefined && { ifMatch }),
    ...(ifNoneMatch !== undefined && { ifNoneMatch }),
    ...(ifUnmodifiedSince !== undefined && { ifUnmodifiedSince }),
  }
  return Object.keys(precondition).length > 0 ? precondition : undefined
}
