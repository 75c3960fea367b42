import { array, assert, constantFrom, nat, property, uniqueArray } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type FormOutlet, MultipartFraming } from '../../../src/http/multipart/framing.ts'

const BOUNDARY = 'XB'
const HEAD = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`
const END = `\r\n--${BOUNDARY}--`

/** What an outlet has got. */
class Received implements FormOutlet {
  forms = ''
  files: Buffer[] = []
  /** What came, in its order. */
  events = ''

  form(bytes: Buffer): void {
    this.forms += bytes.toString('latin1')
  }

  file(bytes: Buffer): void {
    this.files.push(Buffer.from(bytes))
    this.events = this.events.replace(/f?$/, 'f')
  }

  fileStart(): void {
    this.events += '['
  }

  fileEnd(): void {
    this.events += ']'
  }

  get content(): string {
    return Buffer.concat(this.files).toString('latin1')
  }
}

function receive(chunks: readonly string[]): Received {
  const received = new Received()
  const framing = new MultipartFraming(BOUNDARY, received)
  for (const chunk of chunks) framing.write(Buffer.from(chunk, 'latin1'))
  framing.end()
  return received
}

function cut(text: string, places: readonly number[]): string[] {
  const at = [0, ...places.map((place) => place % text.length), text.length].sort((a, b) => a - b)
  return at.slice(1).map((end, index) => text.slice(at[index], end))
}

const PIECES = ['\r', '\n', '-', 'X', 'B', 'a', '\r\n', '\r\n-', '\r\n--', '\r\n--X', 'XB\r\n']

describe('a form parted from the content of its file', () => {
  it('has every byte of either in its order, however it is cut (property)', () => {
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
          expect(received.forms).toBe(HEAD + END)
          expect(received.events).toBe(content === '' ? '[]' : '[f]')
        },
      ),
      { numRuns: 3000 },
    )
  })

  it('gets its fields before the file and after it', () => {
    const field = '--XB\r\nContent-Disposition: form-data; name="visibility"\r\n\r\npublic\r\n'
    const received = receive([`${field}${HEAD}content\r\n${field}--XB--\r\n`])
    expect(received.forms).toBe(`${field}${HEAD}\r\n${field}--XB--`)
    expect(received.content).toBe('content')
  })

  it('withholds of the content no more than what could begin the delimiter', () => {
    const received = new Received()
    const framing = new MultipartFraming(BOUNDARY, received)
    framing.write(Buffer.from(`${HEAD}content\r\n--`))
    expect(received.content).toBe('content')
    framing.write(Buffer.from('X'))
    expect(received.content).toBe('content')
    framing.write(Buffer.from('Y'))
    expect(received.content).toBe('content\r\n--XY')
  })

  it('hands on large content as it came, without a copy', () => {
    const chunk = Buffer.alloc(65_536, 'a')
    let seen: Buffer | undefined
    const outlet = {
      form: () => {},
      fileStart: () => {},
      file: (bytes: Buffer) => void (seen = bytes),
      fileEnd: () => {},
    }
    const framing = new MultipartFraming(BOUNDARY, outlet)
    framing.write(Buffer.from(HEAD))
    framing.write(chunk)
    expect(seen?.buffer).toBe(chunk.buffer)
    expect(seen?.length).toBe(chunk.length)
  })
})
