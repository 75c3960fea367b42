import { AppError, type ErrorCode } from '../../core/errors.ts'
import { PartBody } from './part-body.ts'
import { DelimiterSearch } from './delimiter-search.ts'
import { parsePartHead } from './part-head.ts'

/** Everything in a form but the file's content: preamble, delimiters, part heads, other fields, epilogue. */
export const MAX_OVERHEAD_BYTES = 64 * 1024

export const MAX_PART_HEAD_BYTES = 16 * 1024

/** Fields beside the file. */
export const MAX_FIELDS = 8

/** Of the value of one. */
export const MAX_FIELD_BYTES = 4 * 1024

/** Gets the bytes of a form as they are found well. */
export interface FormOutlet {
  /** Of the form, in order, but for the file's content and what comes after the closing delimiter. */
  form(bytes: Buffer): void
  /** The file's content begins. */
  fileStart(): void
  /** Of the file's content. */
  file(bytes: Buffer): void
  /** The file's content has ended. */
  fileEnd(): void
}

const NOWHERE: FormOutlet = {
  form: () => {},
  fileStart: () => {},
  file: () => {},
  fileEnd: () => {},
}

/** Where the bytes are; `mark` is the two bytes after a delimiter, `closing` the two after the last one's. */
type State = 'preamble' | 'mark' | 'head' | 'field' | 'file' | 'closing' | 'epilogue'

/**
 * Checks the framing of a form with exactly one file, the part `file` (RFC 7578, RFC 2046 section 5.1), as
 * its bytes pass, and says where the file's content lies. What it accepts cannot be read in two ways:
 * a boundary line inside a content or after the closing one, a part head that is none, a line that ends in
 * LF alone, space after a boundary and a form without its end are errors. The verdict and the offsets do not
 * depend on how the bytes are cut into chunks. It parts the file's content from the rest. Its memory is bounded; it does no I/O.
 *
 * `write` and `end` throw `format_error`, `missing_file_part`, `multiple_file_parts` or `truncated_body`, after
 * which the object must not be used any more.
 */
export class MultipartFraming {
  readonly #delimiter: Buffer
  readonly #search: DelimiterSearch
  readonly #outlet: FormOutlet
  readonly #tail: PartBody
  /** The line break that ends the delimiter's line, then what has come of the part's head. */
  readonly #head = Buffer.alloc(2 + MAX_PART_HEAD_BYTES)
  #headLength = 0
  #mark = ''
  #state: State = 'preamble'
  #bytesRead = 0
  #contentOffset = -2
  #fields = 0
  #fileOffset: number | undefined
  #fileSize: number | undefined

  constructor(boundary: string, outlet = NOWHERE) {
    this.#outlet = outlet
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
    this.#search = new DelimiterSearch(this.#delimiter)
    this.#tail = new PartBody(this.#delimiter, (bytes) => outlet.file(bytes))
    // A delimiter begins with the line break before it, and the first one may have no line before it.
    this.#search.restart('\r\n')
  }

  /** Bytes of the body before the file's content, as soon as its part head has passed. */
  get fileOffset(): number | undefined {
    return this.#fileOffset
  }

  /** Bytes of the file's content, as soon as the delimiter after it has passed. */
  get fileSize(): number | undefined {
    return this.#fileSize
  }

  /** Bytes of the shortest end that a form can have after the file's content: line break and closing delimiter. */
  get closingBytes(): number {
    return this.#delimiter.length + 2
  }

  /** Takes the next bytes of the body. */
  write(chunk: Buffer): void {
    let rest = chunk
    while (rest.length > 0) {
      const state = this.#state
      const length = this.#read(rest)
      if (!isContent(state)) this.#outlet.form(rest.subarray(0, length))
      if (this.#state === 'file' && state !== 'file') this.#outlet.fileStart()
      rest = rest.subarray(length)
    }
    this.#checkOverhead()
  }

  /** Takes the end of the body. */
  end(): void {
    if (this.#state === 'epilogue' || (this.#state === 'closing' && this.#mark === '')) return
    throw fault('truncated_body', 'The body ended before the form did.')
  }

  /** Reads on until something has been found, and says how far that was. */
  #read(bytes: Buffer): number {
    switch (this.#state) {
      case 'mark':
      case 'closing':
        return this.#readMark(bytes)
      case 'head':
        return this.#readHead(bytes)
      case 'preamble':
      case 'field':
      case 'file':
      case 'epilogue':
        return this.#readContent(bytes)
    }
  }

  #readContent(bytes: Buffer): number {
    const isFile = this.#state === 'file'
    const found = this.#search.next(bytes)
    this.#bytesRead += found ?? bytes.length
    if (found !== undefined) this.#onDelimiter(this.#bytesRead - this.#delimiter.length)
    if (isFile) this.#passFile(bytes, found)
    return found ?? bytes.length
  }

  #passFile(bytes: Buffer, found: number | undefined): void {
    if (found === undefined) return this.#tail.pass(bytes)
    this.#tail.close(bytes, found)
    this.#outlet.fileEnd()
    this.#outlet.form(this.#delimiter)
  }

  #onDelimiter(offset: number): void {
    if (offset < this.#contentOffset) throw fault('format_error', HEAD_CUT)
    if (this.#state === 'file') this.#fileSize = offset - this.#contentOffset
    this.#checkOverhead()
    if (this.#state === 'epilogue') {
      throw fault('format_error', 'A boundary line follows the one that closes the form.')
    }
    this.#state = 'mark'
  }

  #readMark(bytes: Buffer): number {
    const taken = Math.min(2 - this.#mark.length, bytes.length)
    this.#mark += bytes.toString('latin1', 0, taken)
    this.#bytesRead += taken
    this.#checkOverhead()
    if (
      !MARKS[this.#state === 'closing' ? 'closing' : 'mark'].some((mark) =>
        mark.startsWith(this.#mark),
      )
    ) {
      throw fault('format_error', 'A line begins with the boundary but is no boundary line.')
    }
    if (this.#mark.length === 2) {
      this.#onMark(this.#mark)
      this.#mark = ''
    }
    return taken
  }

  #onMark(mark: string): void {
    if (mark === '--') {
      if (this.#fileSize === undefined) {
        throw fault('missing_file_part', 'The form has no part named "file".')
      }
      this.#state = 'closing'
    } else if (this.#state === 'closing') {
      this.#state = 'epilogue'
      this.#search.restart('\r\n')
    } else {
      this.#state = 'head'
      this.#headLength = this.#head.write('\r\n', 'latin1')
    }
  }

  #readHead(bytes: Buffer): number {
    const before = this.#headLength
    const taken = bytes.copy(this.#head, before)
    const head = this.#head.subarray(0, before + taken)
    const end = head.indexOf('\r\n\r\n', Math.max(0, before - 3))
    const cut = head.indexOf(this.#delimiter, Math.max(0, before - this.#delimiter.length))
    if (cut !== -1 && (end === -1 || cut < end)) throw fault('format_error', HEAD_CUT)
    if (end === -1) {
      if (head.length === this.#head.length) {
        throw fault('format_error', `A part's headers exceed ${MAX_PART_HEAD_BYTES} bytes.`)
      }
      this.#headLength = head.length
      this.#bytesRead += taken
      return taken
    }
    this.#bytesRead += end + 4 - before
    this.#checkOverhead()
    this.#onHead(head.toString('latin1', 2, Math.max(2, end)))
    return end + 4 - before
  }

  #onHead(text: string): void {
    const { name, isFile } = parsePartHead(text)
    if (isFile || name === 'file') this.#onFile(name, isFile)
    else this.#onField()
    this.#contentOffset = this.#bytesRead
    this.#search.restart('\r\n')
  }

  #onFile(name: string, isFile: boolean): void {
    if (this.#fileOffset !== undefined) {
      throw fault('multiple_file_parts', 'The form has more than one file.')
    }
    if (name !== 'file')
      throw fault('missing_file_part', 'A file must be in the part named "file".')
    if (!isFile)
      throw fault('missing_file_part', 'The part "file" has no filename, so it is no file.')
    this.#fileOffset = this.#bytesRead
    this.#state = 'file'
  }

  #onField(): void {
    this.#fields += 1
    if (this.#fields > MAX_FIELDS) {
      throw fault('format_error', `The form has over ${MAX_FIELDS} fields beside the file.`)
    }
    this.#state = 'field'
  }

  #checkOverhead(): void {
    if (this.#state === 'file' && this.#fileSize === undefined) return
    if (this.#bytesRead - (this.#fileSize ?? 0) > MAX_OVERHEAD_BYTES) {
      throw fault('format_error', `The form has over ${MAX_OVERHEAD_BYTES} bytes beside the file.`)
    }
  }
}

/** Whether bytes there are no part of what an outlet gets as the form. */
function isContent(state: State): boolean {
  return state === 'file' || state === 'closing' || state === 'epilogue'
}

/** What may follow a boundary on its line. Space may not: no client sends it, and the parser would skip the part. */
const MARKS = { mark: ['\r\n', '--'], closing: ['\r\n'] } as const

const HEAD_CUT = "A part's headers do not end before the next boundary line."

function fault(code: ErrorCode, detail: string): AppError {
  return new AppError(code, detail)
}
