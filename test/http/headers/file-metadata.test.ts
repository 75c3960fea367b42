import { describe, expect, it } from 'vitest'
import { parseFileMetadata } from '../../../src/http/headers/file-metadata.ts'

/** As Node.js hands on the bytes of a header. */
const received = (bytes: Buffer) => ({ 'file-metadata': bytes.toString('latin1') })

describe('the header File-Metadata', () => {
  it('is ASCII or UTF-8', () => {
    expect(parseFileMetadata({})).toBeUndefined()
    const metadata = '{"place":"Köln"}'
    expect(parseFileMetadata(received(Buffer.from(metadata)))).toBe(metadata)
    const escaped = Buffer.from(String.raw`{"place":"K\u00f6ln"}`)
    expect(parseFileMetadata(received(escaped))).toBe(metadata)
  })

  it('is not Latin-1, and not sent twice', () => {
    const latin1 = Buffer.from('{"place":"Köln"}', 'latin1')
    for (const bytes of [latin1, Buffer.from('{}, {}')]) {
      expect(() => parseFileMetadata(received(bytes))).toThrow(/File-Metadata must be/)
    }
  })
})
