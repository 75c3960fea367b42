import type { FastifyRequest } from 'fastify'
import { AppError } from '../../core/errors.ts'
import type { IncomingFile } from '../../core/uploads/store-content.ts'
import { type ReadOptions, RequestBody, type RequestFile } from '../body/request-body.ts'
import { assertIdentity, contentLength } from '../headers/content-headers.ts'
import { parseParameters } from '../headers/content-headers.ts'
import { FormParser, MAX_OVERHEAD_BYTES } from './form-parser.ts'

type Headers = FastifyRequest['headers']

/** The file of a form that is on its way in. */
export interface FileForm extends RequestFile {
  /**
   * The value of a small field, wherever in the form it stands; all are known after `end`. Throws `invalid_parameter`
   * when the field was given twice.
   */
  field(name: string): string | undefined
}

export interface OpenFileFormOptions extends ReadOptions {
  /** Awaited when the headers are well, right before the first byte of the body is read; its error refuses the form. */
  readonly onStart?: () => Promise<void>
}

/**
 * Reads a form up to the content of its file, the part `file` with a `filename` parameter. Small fields may stand before
 * it and after it. Rejects with `format_error`, `missing_file_part`, `multiple_file_parts`, `truncated_body` or
 * `request_timeout`; then the request can be drained, as after disposal.
 */
export async function openFileForm(
  request: Pick<FastifyRequest, 'raw' | 'intake' | 'headers'>,
  options: OpenFileFormOptions,
): Promise<FileForm> {
  const { headers } = request
  const boundary = parseFormBoundary(headers)
  await options.onStart?.()
  const size = Promise.withResolvers<IncomingFile['size']>()
  const form = new FormParser(boundary, (offset) => size.resolve(sizeOf(headers, boundary, offset)))
  const body = new RequestBody({ ...options, request, check: form })
  body.ended.catch(size.reject)
  const file = body.toFile(await size.promise)
  // What is wrong with the bytes that came along with the part's head refuses the form before anything is done with it.
  if (body.stream.errored !== null) throw body.stream.errored
  return {
    ...file,
    field(name) {
      const [first, ...others] = form.fields.filter((field) => field.name === name)
      if (others.length === 0) return first?.value
      throw new AppError('invalid_parameter', `The form has more than one field "${name}".`, {
        facts: { parameter: name },
      })
    },
  }
}

/**
 * Returns the boundary that the headers of a form announce: 1 to 70 of the characters that RFC 2046
 * section 5.1.1 allows. Of several boundary parameters the first decides. Throws `format_error` when the
 * body is no `multipart/form-data`, is encoded, or has no such boundary.
 */
function parseFormBoundary(headers: Headers): string {
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

/** The smallest size that a file can have that comes in a form with these headers, in bytes; 0 when they don't say. */
export function minFileSize({ headers }: Pick<FastifyRequest, 'headers'>): number {
  return Math.max(0, (contentLength(headers) ?? 0) - MAX_OVERHEAD_BYTES)
}

/** The size of a file whose content begins at `offset` of the body. */
function sizeOf(headers: Headers, boundary: string, offset: number): IncomingFile['size'] {
  const total = contentLength(headers)
  if (total === undefined) return { min: 0, announced: undefined }
  const rest = total - offset - `\r\n--${boundary}--`.length
  if (rest < 0) {
    throw new AppError(
      'truncated_body',
      'The Content-Length leaves no room for the end of the form.',
    )
  }
  // Clients end a form with a line break, but need not.
  const announced = Math.max(0, rest - 2)
  return { min: Math.min(minFileSize({ headers }), announced), announced, max: rest }
}
