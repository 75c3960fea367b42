import { array, assert, constantFrom, nat, property, uniqueArray } from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type FormField,
  FormParser,
  MAX_FIELD_BYTES,
} from '../../../src/http/multipart/form-parser.ts'

const BOUNDARY = 'XB'
const HEAD = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`
const END = `\r\n--${BOUNDARY}--`

/** What has come of a form, and what was found in it. */
class Received {
  readonly files: Buffer[] = []
  /** What came, in its order. */
  events = ''
  readonly #parser = new FormParser(BOUNDARY, () => (this.events += '['))

  write(text: string): void {
    this.#parser.write(Buffer.from(text, 'latin1'), this)
  }

  over(): this {
    this.#parser.end()
    return this
  }

  push(bytes: Buffer): void {
    this.files.push(bytes)
    this.events = this.events.replace(/f?$/, 'f')
  }

  end(): void {
    this.events += ']'
  }

  get content(): string {
    return Buffer.concat(this.files).toString('latin1')
  }

  get fields(): readonly FormField[] {
    return this.#parser.fields
  }
}

function receive(chunks: readonly string[]): Received {
  const received = new Received()
  for (const chunk of chunks) received.write(chunk)
  return received.over()
}

function field(value: string, headers = '', name = 'visibility'): string {
  return `--XB\r\n${headers}Content-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
}

function cut(text: string, places: readonly number[]): string[] {
  const at = [0, ...places.map((place) => place % text.length), text.length].sort((a, b) => a - b)
  return at.slice(1).map((end, index) => text.slice(at[index], end))
}

const PIECES = ['\r', '\n', '-', 'X', 'B', 'a', '\r\n', '\r\n-', '\r\n--', '\r\n--X', 'XB\r\n']

describe('the content of the file of a form', () => {
  it('has every byte in its order, however it is cut (property)', () => {
    assert(
      property(
        array(constantFrom(...PIECES), { maxLength: 12 }),
        uniqueArray(nat(), { maxLength: 20 }),
        (pieces, places) => {
          const content = pieces
            .join('')
            .replaceAll(/\r\n--XB/g, 'x')
            .replace(/^--XB/, 'x')
          const received = receive(cut(`${HEAD}${content}${END}\r\nepilogue`, places))
          expect(received.content).toBe(content)
          expect(received.events).toBe(content === '' ? '[]' : '[f]')
        },
      ),
      { numRuns: 3000 },
    )
  })

  it('is parted from the fields before it and after it', () => {
    const received = receive([`${field('public')}${HEAD}content\r\n${field('\xc3\xa4')}--XB--\r\n`])
    expect(received.fields).toEqual([
      { name: 'visibility', value: 'public', isExact: true },
      { name: 'visibility', value: 'ä', isExact: true },
    ])
    expect(received.content).toBe('content')
  })

  it('is withheld no further than it could begin the delimiter', () => {
    const received = new Received()
    received.write(`${HEAD}content\r\n--`)
    expect(received.content).toBe('content')
    received.write('X')
    expect(received.content).toBe('content')
    received.write('Y')
    expect(received.content).toBe('content\r\n--XY')
  })

  it('is handed on without a copy where it is large', () => {
    const chunk = Buffer.alloc(65_536, 'a')
    const pieces: Buffer[] = []
    const outlet = { push: (bytes: Buffer) => void pieces.push(bytes), end: () => {} }
    const parser = new FormParser(BOUNDARY, () => {})
    parser.write(Buffer.from(HEAD), outlet)
    parser.write(chunk, outlet)
    expect(pieces[0]?.buffer).toBe(chunk.buffer)
    expect(pieces.map(({ length }) => length)).toEqual([chunk.length])
  })
})

describe('a field', () => {
  const json = 'Content-Type: application/json\r\n'

  it('is cut at 16 KiB, and then not what was sent', () => {
    const longest = 'x'.repeat(MAX_FIELD_BYTES)
    for (const text of [longest, `${longest}x`]) {
      const [first] = receive([field(text), HEAD, END]).fields
      expect(first).toMatchObject({ value: longest, isExact: text === longest })
    }
  })

  it('a field of JSON is its value', () => {
    const [first] = receive([field('"public"', json), HEAD, END]).fields
    expect(first?.value).toBe('public')
  })

  it.each(['["public"]', '[["public"]]', '{"a":"public"}', '5', 'null'])(
    'a field of JSON that is no string, such as %s, is its text',
    (text) => {
      const [first] = receive([field(text, json), HEAD, END]).fields
      expect(first?.value).toBe(text)
    },
  )

  it.each([
    ['JSON that is none', field('{', json), 'A JSON field of the form is not valid JSON.'],
    [
      'JSON that is too long',
      field('1'.repeat(MAX_FIELD_BYTES + 1), json),
      'A JSON field of the form is larger than 16384 bytes.',
    ],
    [
      'a name that every object has',
      field('x', '', 'constructor'),
      'The field name "constructor" is not allowed.',
    ],
  ])('a field of %s is refused', (_what, text, detail) => {
    expect(() => receive([text, HEAD, END])).toThrow(detail)
  })
})
