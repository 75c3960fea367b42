import { Readable } from 'node:stream'
import fastifyMultipart, { type Multipart, type MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { AppError, isAppError } from '../../core/errors.ts'
import type { IncomingFile } from '../../core/uploads/store-content.ts'
import { type BodyCheck, RequestBody, type ContentOutlet, malformed } from '../body/request-body.ts'
import { contentLength } from '../headers/content-headers.ts'
import { parseFormBoundary } from './boundary.ts'
import { MAX_FIELD_BYTES, MAX_FIELDS, MAX_OVERHEAD_BYTES, MultipartFraming } from './framing.ts'
import { MAX_PART_HEADERS } from './part-head.ts'

/**
 * Lets routes take a file from a form with `openFileForm`. The form's parser is @fastify/multipart in stream
 * mode, within limits; its framing is checked before it by `MultipartFraming`, because the parser
 * takes a boundary line inside the content for the file's end, and a form that goes on after its end for a whole one.
 * The file's content goes past the parser, which would look through it once more: it reads a form whose file is one byte.
 */
export const multipartUploadPlugin = fp(
  async (app) => {
    await app.register(fastifyMultipart, {
      isPartAFile: (_name, _type, fileName) => fileName !== undefined,
      limits: {
        files: 1,
        fields: MAX_FIELDS,
        fieldSize: MAX_FIELD_BYTES,
        parts: MAX_FIELDS + 2,
        headerPairs: MAX_PART_HEADERS,
        fileSize: Number.POSITIVE_INFINITY,
      },
    })
  },
  { name: 'multipart-upload', fastify: '5.x', dependencies: [], decorators: {} },
)

/** The file of a form that is on its way in. Whoever opened it disposes of it, whatever happens. */
export interface FileForm extends IncomingFile, Disposable {
  /** Destroying it stops the form, and leaves the connection alone. */
  readonly content: Readable
  /**
   * The value of a small field, wherever in the form it stands; all are known after `end`. Throws `invalid_parameter`
   * when the field was given twice.
   */
  field(name: string): string | undefined
  /** As the port says: exactly one file, whose bytes were those of `content`. Never hangs. */
  end(): Promise<void>
  /** Stops reading. The request is left paused and can be drained. No harm after `end`. */
  [Symbol.dispose](): void
}

export interface OpenFileFormOptions {
  /** Stops the form; an `AppError` as its reason is what the form fails with. */
  readonly signal: AbortSignal
  /** How long the client may be silent, and the time over which it must send 1 KiB/s on average; in milliseconds. */
  readonly idleTimeoutMs: number
  /** Awaited when the headers are well, right before the first byte of the body is read; its error refuses the form. */
  readonly onStart?: () => Promise<void>
}

/**
 * Reads a form up to the content of its file, the part `file` with a `filename` parameter. Small fields
 * are skipped, before it and after it. Rejects with `format_error`, `missing_file_part`, `multiple_file_parts`,
 * `truncated_body` or `request_timeout`; then the request can be drained, as after disposal.
 */
export async function openFileForm(
  request: FastifyRequest,
  options: OpenFileFormOptions,
): Promise<FileForm> {
  const boundary = parseFormBoundary(request.headers)
  await options.onStart?.()
  const form = new Readable({ read: () => {} }).on('error', () => {})
  const { body, framing } = openBody(request, { ...options, boundary, form })
  try {
    const parts = partsOf(request, { form, boundary })
    const fields: Field[] = []
    const file = await soon(nextFile(parts, fields), { ...options, body })
    if (file === undefined) throw new Error('the parser skipped the file')
    const size = sizeOf(request, framing)
    return createFileForm({ ...options, body, parts, fields, parsed: file.file.resume(), size })
  } catch (error) {
    throw failed(body, error)
  }
}

/** Stands for the file's content: the parser looks at the end of a part's head only when more has come. */
const STAND_IN = Buffer.from('x')

interface BodyOptions extends OpenFileFormOptions {
  readonly boundary: string
  /** Gets all but the file's content. */
  readonly form: Readable
}

/** The body of a form, of which `stream` is the file's content. */
function openBody(
  request: FastifyRequest,
  { boundary, form, ...options }: BodyOptions,
): { readonly body: RequestBody; readonly framing: MultipartFraming } {
  let content: ContentOutlet | undefined
  const framing = new MultipartFraming(boundary, {
    form: (bytes) => form.push(bytes),
    fileStart: () => form.push(STAND_IN),
    file: (bytes) => content?.push(bytes),
    fileEnd: () => content?.end(),
  })
  const check: BodyCheck = {
    write: (chunk, outlet) => {
      content = outlet
      framing.write(chunk)
    },
    end: () => framing.end(),
  }
  const body = new RequestBody({ ...options, request, check })
  body.ended.then(
    () => form.push(null),
    (error: Error) => form.destroy(error),
  )
  return { body, framing }
}

/** The smallest size that a file can have that comes in a form with these headers, in bytes; 0 when they don't say. */
export function minFileSize({ headers }: Pick<FastifyRequest, 'headers'>): number {
  return Math.max(0, (contentLength(headers) ?? 0) - MAX_OVERHEAD_BYTES)
}

interface OpenedForm extends OpenFileFormOptions, Pick<FileForm, 'size'> {
  readonly body: RequestBody
  readonly parts: AsyncIterator<Multipart, undefined>
  /** Those that have come so far. */
  readonly fields: Field[]
  /** The file as the parser sees it: without its content. */
  readonly parsed: MultipartFile['file']
}

function createFileForm(form: OpenedForm): FileForm {
  const { body, parts, fields, parsed, size } = form
  const content = body.stream
  const stop = (): void => {
    // An error is made of a stack, which is not for nothing.
    if (!body.isOver) body.fail(new AppError('truncated_body', 'The form was not read to its end.'))
  }
  content.once('close', () => {
    if (!content.readableEnded) stop()
  })

  async function end(): Promise<void> {
    if (!content.readableEnded) stop()
    try {
      const second = await soon(nextFile(parts, fields), form)
      await body.ended
      if (second !== undefined || parsed.bytesRead !== STAND_IN.length) {
        throw new Error('the parser read the form in another way than it was checked')
      }
    } catch (error) {
      throw failed(body, error)
    }
  }

  return {
    content,
    size,
    field: (name) => onlyValue(fields, name),
    end,
    [Symbol.dispose]: stop,
  }
}

interface Field {
  readonly name: string
  readonly value: string
}

function onlyValue(fields: readonly Field[], name: string): string | undefined {
  const [first, ...others] = fields.filter((field) => field.name === name)
  if (others.length === 0) return first?.value
  throw new AppError('invalid_parameter', `The form has more than one field "${name}".`, {
    facts: { parameter: name },
  })
}

/**
 * The form's parts, read from `form` in place of the request. So the parser gets the boundary as we read it, meets no
 * byte that was not checked, and is ended by the end or the failure of the body, never by the socket's.
 */
function partsOf(
  request: FastifyRequest,
  { form, boundary }: Pick<BodyOptions, 'form' | 'boundary'>,
): AsyncIterator<Multipart, undefined> {
  const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` }
  const instead = new Map<PropertyKey, unknown>([
    ['raw', Object.assign(form, { headers })],
    ['isMultipart', () => true],
  ])
  const view = new Proxy(request, {
    get: (target, key): unknown => instead.get(key) ?? Reflect.get(target, key),
  })
  return view.parts()
}

/** The next file; the fields before it are put into `fields`. */
async function nextFile(
  parts: AsyncIterator<Multipart, undefined>,
  fields: Field[],
): Promise<MultipartFile | undefined> {
  for (;;) {
    const next = await parts.next()
    if (next.done === true) return undefined
    if (next.value.type === 'file') return next.value
    fields.push({ name: next.value.fieldname, value: String(next.value.value) })
  }
}

/** Settles as `work` of the parser does; when the body has ended and the parser still isn't done, rejects in time. */
async function soon<T>(
  work: Promise<T>,
  { body, idleTimeoutMs }: { readonly body: RequestBody; readonly idleTimeoutMs: number },
): Promise<T> {
  const { promise: overdue, reject } = Promise.withResolvers<never>()
  overdue.catch(() => undefined)
  let timer: NodeJS.Timeout | undefined
  let isDone = false
  const wait = (): void => {
    if (isDone) return
    timer = setTimeout(reject, idleTimeoutMs, new Error('the parser did not come to an end'))
  }
  body.ended.then(wait, reject)
  try {
    return await Promise.race([work, overdue])
  } finally {
    isDone = true
    clearTimeout(timer)
  }
}

function sizeOf(request: FastifyRequest, framing: MultipartFraming): FileForm['size'] {
  const total = contentLength(request.headers)
  if (total === undefined) return { min: 0, announced: undefined }
  const rest = total - (framing.fileOffset ?? 0) - framing.closingBytes
  if (rest < 0) {
    throw new AppError(
      'truncated_body',
      'The Content-Length leaves no room for the end of the form.',
    )
  }
  // Clients end a form with a line break, but need not.
  const announced = Math.max(0, rest - 2)
  return { min: Math.min(minFileSize(request), announced), announced, max: rest }
}

/** Stops the form, and says what it failed with: what failed first, not what followed from it. */
function failed(body: RequestBody, error: unknown): AppError {
  const known = isAppError(error) ? error : malformed(error)
  body.fail(known)
  return known
}
