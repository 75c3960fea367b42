import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../core/errors.ts'
import { assertIdentity, parseParameters } from '../headers/content-headers.ts'

/**
 * Returns the boundary that the headers of a form announce: 1 to 70 of the characters that RFC 2046
 * section 5.1.1 allows. Of several boundary parameters the first decides. Throws `format_error` when the
 * body is no `multipart/form-data`, is encoded, or has no such boundary.
 */
export function parseFormBoundary(headers: IncomingHttpHeaders): string {
  assertIdentity(headers)
  const type = parseParameters(headers['content-type'] ?? '')
  if (type?.value !== 'multipart/form-data') {
    throw new AppError('format_error', 'The Content-Type must be multipart/form-data.')
  }
  const [, boundary = ''] = type.parameters.find(([name]) => name === 'boundary') ?? []
  if (BOUNDARY.test(boundary)) return boundary
  throw new AppError(
    'format_error',
    'The Content-Type needs a boundary of 1 to 70 characters that RFC 2046 allows.',
  )
}

const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/
