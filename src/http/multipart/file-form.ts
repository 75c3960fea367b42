import type { FastifyRequest } from 'fastify'
import { AppError, formatError, invalidParameter } from '../../core/errors.ts'
import { type MediaType, mediaTypeOf } from '../../core/files/media-type.ts'
import type { IncomingFile } from '../../core/uploads/store-content.ts'
import { type ReadOptions, RequestBody, type RequestFile } from '../body/request-body.ts'
import { assertIdentity, contentLength, MAX_PARSED_LENGTH } from '../headers/content-headers.ts'
import { parseParameters } from '../headers/parameterized-value.ts'
import { FormParser, MAX_FIELD_BYTES, MAX_OVERHEAD_BYTES } from './form-parser.ts'

type Headers = FastifyRequest['headers']

export interface FileForm extends RequestFile {
  readonly mediaType: MediaType | null
  /**
   * A small field, before or after the file; all are known after `end`. Throws `invalid_parameter` if it is repeated, not
   * valid UTF-8 or longer than `MAX_FIELD_BYTES`.
   */
  field(name: string): string | undefined
}

export interface OpenFileFormOptions extends ReadOptions {
  /** Awaited once the headers are valid, before the body is read. An error refuses the form. */
  readonly onStart?: (() => Promise<void>) | undefined
}

/**
 * Reads a form up to its file's content. Rejects with `format_error`, `missing_file_part`, `multiple_file_parts`,
 * `truncated_body` or `request_timeout`; the request can then be drained.
 */
export async function openFileForm(
  request: FastifyRequest,
  { onStart, signal, keepsReceived }: OpenFileFormOptions,
): Promise<FileForm> {
  const { headers, server } = request
  const { idleTimeoutMs } = server
  const boundary = parseFormBoundary(headers)
  await onStart?.()
  const size = Promise.withResolvers<IncomingFile['size']>()
  const form = new FormParser(boundary, (offset) => size.resolve(sizeOf(headers, boundary, offset)))
  const body = new RequestBody({ request, check: form, signal, idleTimeoutMs, keepsReceived })
  body.ended.catch(size.reject)
  const file = body.toFile(await size.promise)
  // An error in the bytes that came with the part's head refuses the form before anything is stored.
  if (body.stream.errored !== null) throw body.stream.errored
  return {
    ...file,
    mediaType: mediaTypeOf(form.fileType),
    field(name) {
      const [first, another] = form.fields.filter((field) => field.name === name)
      if (another !== undefined) {
        throw invalidParameter(name, `The form has more than one field "${name}".`)
      }
      if (first?.isExact !== false) return first?.value
      const detail = `The field "${name}" must be UTF-8 of at most ${MAX_FIELD_BYTES} bytes.`
      throw invalidParameter(name, detail)
    },
  }
}

/** RFC 2046 section 5.1.1; the first of several counts. Throws `format_error` for an invalid or encoded form. */
function parseFormBoundary(headers: Headers): string {
  assertIdentity(headers)
  const { 'content-type': text = '' } = headers
  const type = text.length > MAX_PARSED_LENGTH ? undefined : parseParameters(text)
  if (type?.value !== 'multipart/form-data') {
    throw formatError('The Content-Type must be multipart/form-data.')
  }
  const [, boundary = ''] = type.parameters.find(([name]) => name === 'boundary') ?? []
  if (BOUNDARY.test(boundary)) return boundary
  throw formatError(
    'The boundary in the Content-Type must be 1 to 70 characters that RFC 2046 allows.',
  )
}

const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/

/** Smallest possible size of the file in the form, in bytes; 0 if unknown. */
export function minFileSize(headers: Headers): number {
  return Math.max(0, (contentLength(headers) ?? 0) - MAX_OVERHEAD_BYTES)
}

/** `offset` is the number of body bytes before the file's content. */
function sizeOf(headers: Headers, boundary: string, offset: number): IncomingFile['size'] {
  const total = contentLength(headers)
  if (total === undefined) return { min: 0, announced: undefined }
  const rest = total - offset - `\r\n--${boundary}--`.length
  if (rest < 0) {
    throw new AppError(
      'truncated_body',
      'The Content-Length leaves no room for the closing boundary of the form.',
    )
  }
  // The line break after a form is optional.
  const announced = Math.max(0, rest - 2)
  return { min: Math.min(minFileSize(headers), announced), announced, max: rest }
}
