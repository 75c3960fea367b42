import type { Random } from '../simulation/plan/random.ts'
import { httpChunk } from '../../support/http/multipart-body.ts'

export interface Message {
  readonly line: string
  readonly headers?: readonly string[]
  readonly body?: Buffer
  /** Whether the body goes in chunks. */
  readonly chunked?: Random
}

/** The bytes of a well-formed request. */
export function message({ line, headers = [], body, chunked }: Message): Buffer {
  const framing =
    body === undefined
      ? []
      : [chunked === undefined ? `Content-Length: ${body.length}` : 'Transfer-Encoding: chunked']
  const head = [`${line} HTTP/1.1`, 'Host: localhost', ...headers, ...framing, '', '']
  const sent = body === undefined || chunked === undefined ? body : chunks(body, chunked)
  return Buffer.concat([Buffer.from(head.join('\r\n'), 'latin1'), sent ?? Buffer.alloc(0)])
}

function chunks(body: Buffer, random: Random): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at < body.length;) {
    const size = 1 + random.below(body.length)
    pieces.push(httpChunk(body.subarray(at, at + size)))
    at += size
  }
  return Buffer.concat([...pieces, httpChunk('')])
}

/** Small mostly; now and then larger than what one read of a socket brings. */
export function someContent(random: Random): Buffer {
  const size = random.chance(0.05) ? 70_000 + random.below(100_000) : random.below(300)
  return contentOfSize(size, random)
}

export function contentOfSize(size: number, random: Random): Buffer {
  const unit = random.pick(['new', '\r\n', '--XBOUNDARY', '\r\n--', '\0\u00ff', 'a\r\nb'])
  return Buffer.from(unit.repeat(Math.ceil(size / unit.length)), 'latin1').subarray(0, size)
}
