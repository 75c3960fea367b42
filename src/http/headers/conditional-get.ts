import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../core/errors.ts'
import type { File } from '../../core/files/file.ts'
import { preconditionFailed } from '../../core/files/precondition.ts'
import type { Selection } from '../../core/files/repository.ts'
import { selectRange } from './byte-range.ts'
import { parseStrongEntityTag } from './entity-tags.ts'
import { evaluatePreconditions, parsePreconditions } from './preconditions.ts'

/**
 * Decides what of a file a GET or HEAD gets, by its conditional headers and `Range` (RFC 9110 section 13.2.2): nothing
 * is 304. Throws `precondition_failed`, `range_not_satisfiable` with the fact `size`, and `invalid_parameter` for a
 * malformed condition.
 */
export function selectRepresentation(
  request: { readonly method: string; readonly headers: IncomingHttpHeaders },
  file: File,
): Selection {
  const { method, headers } = request
  const validators = { etag: file.version, lastModified: file.updatedAt }
  switch (evaluatePreconditions(parsePreconditions(headers), validators)) {
    case 'failed':
      throw preconditionFailed()
    case 'not_modified':
      return 'nothing'
    case 'met':
      return method === 'GET' && ifRangeHolds(headers, file) ? selectPart(headers, file) : 'whole'
  }
}

/**
 * Whether a range continues what the client has. Only the strong tag says so: a file that changed twice within a second
 * has one `Last-Modified` for two contents, which cannot be ruled out here, so a date is never strong (RFC 9110
 * sections 8.8.2.2 and 13.1.5) and the client gets the whole file.
 */
function ifRangeHolds({ 'if-range': ifRange }: IncomingHttpHeaders, file: File): boolean {
  return ifRange === undefined || parseStrongEntityTag(String(ifRange)) === file.version
}

function selectPart({ range }: IncomingHttpHeaders, { size }: File): Selection {
  const selected = selectRange(range, size)
  if (selected !== 'unsatisfiable') return selected
  const detail = `No byte of the range is within the file, which has ${size} bytes.`
  throw new AppError('range_not_satisfiable', detail, { facts: { size } })
}
