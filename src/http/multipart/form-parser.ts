import { isUtf8 } from 'node:buffer'
import { AppError, formatError } from '../../core/errors.ts'
import type { BodyCheck, ContentOutlet } from '../body/request-body.ts'
import { parsePartHead } from './part-head.ts'

/** Everything but the file's content: preamble, delimiters, part heads, other fields, epilogue. */
export const MAX_OVERHEAD_BYTES = 64 * 1024

export const MAX_PART_HEAD_BYTES = 16 * 1024

export const MAX_FIELDS = 100

/** Longer values are truncated. Metadata of which each character is escaped take 12 KiB. */
export const MAX_FIELD_BYTES = 16 * 1024

export interface FormField {
  readonly name: string
  readonly value: string
  /** Whether `value` is what was sent: valid UTF-8, and not truncated. */
  readonly isExact: boolean
}

/** `mark`: the two bytes after a delimiter; `closing`: the two after the last one. */
type State = ContentState | 'mark' | 'head' | 'closing'

type ContentState = 'preamble' | 'field' | 'file' | 'epilogue'

/**
 * Parses a form with exactly one file, the part `file` (RFC 7578, RFC 2046 section 5.1), however chunks are cut, in
 * bounded memory. What parsers could read in two ways is an error: a boundary line inside a content or after the
 * closing one, a malformed part head, a bare LF, space after a boundary, a missing end. Throws `format_error`,
 * `missing_file_part`, `multiple_file_parts` or `truncated_body`; must not be used afterwards.
 */
export class FormParser implements BodyCheck {
  readonly fields: FormField[] = []
  /** Of the part `file`, as latin1. */
  fileType: string | undefined
  readonly #delimiter: Buffer
  #scanner: DelimiterScanner
  readonly #onFile: (offset: number) => void
  #state: State = 'preamble'
  #mark = ''
  /** The line break after the delimiter, then the part head so far, as latin1. */
  #head = ''
  #field = { name: '', isJson: false, text: '' }
  #fieldCount = 0
  #hasFile = false
  #overheadBytes = 0

  /** `onFile` gets the number of body bytes before the file's content; `write` throws what it throws. */
  constructor(boundary: string, onFile: (offset: number) => void) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
    this.#scanner = new DelimiterScanner(this.#delimiter)
    this.#onFile = onFile
  }

  write(chunk: Buffer, outlet: ContentOutlet): void {
    let at = 0
    // A reader may detach a chunk that is only content; its length is then 0.
    while (at < chunk.length) {
      const rest = chunk.subarray(at)
      const state = this.#state
      if (state === 'head') at += this.#readHead(rest)
      else if (state === 'mark' || state === 'closing') at += this.#readMark(rest, state)
      else at += this.#readContent(rest, state, outlet)
    }
  }

  end(): void {
    if (this.#state === 'epilogue' || (this.#state === 'closing' && this.#mark === '')) return
    throw new AppError('truncated_body', 'The body ended before the closing boundary of the form.')
  }

  #readContent(bytes: Buffer, state: ContentState, outlet: ContentOutlet): number {
    const { content, end } = this.#scanner.scan(bytes)
    const taken = end ?? bytes.length
    if (state === 'file') {
      if (content.length > 0) outlet.push(content)
      if (end !== undefined) this.#count(this.#delimiter.length)
    } else {
      this.#count(taken)
      if (state === 'field') this.#keep(content)
    }
    if (end !== undefined) this.#onDelimiter(state, outlet)
    return taken
  }

  #onDelimiter(state: ContentState, outlet: ContentOutlet): void {
    if (state === 'epilogue') {
      throw formatError('The form has a boundary line after its closing boundary.')
    }
    if (state !== 'preamble' && this.#scanner.borrowed > 0) throw formatError(HEAD_CUT)
    if (state === 'file') outlet.end()
    if (state === 'field') this.#endField()
    this.#state = 'mark'
  }

  /** Refuses space after a boundary: no client sends it, and some parsers would skip the part. */
  #readMark(bytes: Buffer, state: 'mark' | 'closing'): number {
    const before = this.#mark.length
    const mark = this.#mark + bytes.toString('latin1', 0, 2 - before)
    this.#count(mark.length - before)
    if (!'\r\n'.startsWith(mark) && !(state === 'mark' && '--'.startsWith(mark))) {
      throw formatError('A line begins with the boundary but is not a boundary line.')
    }
    this.#mark = mark.length === 2 ? '' : mark
    if (mark === '--') {
      if (!this.#hasFile) {
        throw new AppError('missing_file_part', 'The form has no part named "file".')
      }
      this.#state = 'closing'
    } else if (mark === '\r\n') {
      this.#state = state === 'mark' ? 'head' : 'epilogue'
      this.#head = mark
      this.#scanner = new DelimiterScanner(this.#delimiter)
    }
    return mark.length - before
  }

  #readHead(bytes: Buffer): number {
    const before = this.#head.length
    const head = this.#head + bytes.toString('latin1', 0, 2 + MAX_PART_HEAD_BYTES - before)
    const end = head.indexOf('\r\n\r\n', before - 3)
    const cut = head.indexOf(this.#delimiter.toString('latin1'), before - this.#delimiter.length)
    if (cut !== -1 && (end === -1 || cut < end)) throw formatError(HEAD_CUT)
    if (end === -1 && head.length === 2 + MAX_PART_HEAD_BYTES) {
      throw formatError(`The headers of a part are larger than ${MAX_PART_HEAD_BYTES} bytes.`)
    }
    this.#head = head
    const taken = (end === -1 ? head.length : end + 4) - before
    this.#count(taken)
    if (end !== -1) this.#onHead(head.slice(2, Math.max(2, end)))
    return taken
  }

  #onHead(text: string): void {
    const { name, isFile, isJson, contentType } = parsePartHead(text)
    this.#scanner = new DelimiterScanner(this.#delimiter)
    if (!isFile && name !== 'file') return this.#beginField(name, isJson)
    if (this.#hasFile) {
      throw new AppError('multiple_file_parts', 'The form has more than one file.')
    }
    if (name !== 'file') {
      throw new AppError('missing_file_part', 'The file must be in the part named "file".')
    }
    if (!isFile) {
      throw new AppError('missing_file_part', 'The part "file" has no filename parameter.')
    }
    this.#hasFile = true
    this.fileType = contentType
    this.#state = 'file'
    this.#onFile(this.#overheadBytes)
  }

  #beginField(name: string, isJson: boolean): void {
    this.#fieldCount += 1
    if (this.#fieldCount > MAX_FIELDS) {
      throw formatError(`The form has more than ${MAX_FIELDS} fields besides the file.`)
    }
    // Honest clients send no such name, and it breaks programs that keep fields in an object.
    if (name in Object.prototype) throw formatError(`The field name "${name}" is not allowed.`)
    this.#state = 'field'
    this.#field = { name, isJson, text: '' }
  }

  #keep(content: Buffer): void {
    const { text } = this.#field
    // One byte beyond the limit shows that the value is truncated.
    this.#field.text += content.toString('latin1', 0, MAX_FIELD_BYTES + 1 - text.length)
  }

  #endField(): void {
    const { name, isJson, text } = this.#field
    if (isJson && text.length > MAX_FIELD_BYTES) {
      throw formatError(`A JSON field of the form is larger than ${MAX_FIELD_BYTES} bytes.`)
    }
    const bytes = Buffer.from(text.slice(0, MAX_FIELD_BYTES), 'latin1')
    const value = bytes.toString()
    const isExact = text.length <= MAX_FIELD_BYTES && isUtf8(bytes)
    this.fields.push({ name, value: isJson ? textOfJson(value) : value, isExact })
  }

  #count(bytes: number): void {
    this.#overheadBytes += bytes
    if (this.#overheadBytes > MAX_OVERHEAD_BYTES) {
      throw formatError(`The form has more than ${MAX_OVERHEAD_BYTES} bytes besides the file.`)
    }
  }
}

const HEAD_CUT = 'The headers of a part do not end before the next boundary line.'

/** The text of a JSON string. Any other value keeps its JSON, so that `["public"]` is not taken for `public`. */
function textOfJson(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : text
  } catch (cause) {
    throw formatError('A JSON field of the form is not valid JSON.', cause)
  }
}

const CR = 0x0d

const LINE_BREAK_BYTES = 2

const NOTHING = Buffer.alloc(0)

/**
 * Finds the delimiter across chunks, and passes content on, mostly uncopied, once it can't begin one. Withheld bytes
 * need no buffer: they equal the delimiter's beginning, whose only CR is its first byte.
 */
class DelimiterScanner {
  readonly #delimiter: Buffer
  /** How many of the last bytes match the delimiter's beginning; at first the line break before the content. */
  #matched = LINE_BREAK_BYTES
  borrowed = LINE_BREAK_BYTES

  constructor(delimiter: Buffer) {
    this.#delimiter = delimiter
  }

  /** Returns certain content, and the offset after the delimiter, if it ends here. Unusable after a match. */
  scan(chunk: Buffer): { readonly content: Buffer; readonly end: number | undefined } {
    const delimiter = this.#delimiter
    const begun = this.#matched
    if (begun > 0) {
      const next = chunk.subarray(0, delimiter.length - begun)
      this.#matched += next.length
      if (delimiter.subarray(begun, this.#matched).equals(next)) {
        return {
          content: NOTHING,
          end: this.#matched === delimiter.length ? next.length : undefined,
        }
      }
    }
    const withheld = delimiter.subarray(this.borrowed, begun)
    this.borrowed = 0
    const at = chunk.indexOf(delimiter)
    const tail = chunk.subarray(Math.max(0, chunk.length - delimiter.length + 1))
    // Without a CR, this is the last byte, with which no delimiter begins.
    const beginning = tail.subarray(tail.lastIndexOf(CR))
    const isBegun = at === -1 && delimiter.subarray(0, beginning.length).equals(beginning)
    this.#matched = isBegun ? beginning.length : 0
    const content = chunk.subarray(0, at === -1 ? chunk.length - this.#matched : at)
    return {
      content: withheld.length === 0 ? content : Buffer.concat([withheld, content]),
      end: at === -1 ? undefined : at + delimiter.length,
    }
  }
}
