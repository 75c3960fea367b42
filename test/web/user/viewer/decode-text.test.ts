import { describe, expect, it } from 'vitest'
import { decodeText } from '../../../../web/user/viewer/decode-text.ts'

const utf16be = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16()

describe('the text of a file', () => {
  it.each<[string, Uint8Array, string]>([
    ['UTF-8', Buffer.from('größer 日本 😀'), 'größer 日本 😀'],
    ['UTF-8 with a byte order mark', Buffer.from('\uFEFFgrößer'), 'größer'],
    ['UTF-16LE with one', Buffer.from('\uFEFFgrößer 日本 😀', 'utf16le'), 'größer 日本 😀'],
    ['UTF-16BE with one', utf16be('größer 日本 😀'), 'größer 日本 😀'],
    ['ISO-8859-1', Buffer.from('größer\r\n\t"', 'latin1'), 'größer\r\n\t"'],
    ['windows-1252', Buffer.from([0x80, 0x20, 0x93, 0xe4, 0x94]), '€ “ä”'],
    ['nothing', Buffer.alloc(0), ''],
  ])('is read from %s', (_encoding, bytes, text) => {
    expect(decodeText(bytes, true)).toBe(text)
  })

  it.each<[string, Uint8Array]>([
    ['a NUL', Buffer.from('a\0b')],
    ['UTF-16 without a byte order mark', Buffer.from('abc', 'utf16le')],
    ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])],
    ['controls that are not UTF-8', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
  ])('is not read from %s', (_what, bytes) => {
    expect(decodeText(bytes, true)).toBeUndefined()
  })

  it('has no half of a character where it is cut', () => {
    expect(decodeText(Buffer.from('aä').subarray(0, 2), false)).toBe('a')
    expect(decodeText(Buffer.from('\uFEFFa😀', 'utf16le').subarray(0, 6), false)).toBe('a')
    // A whole file is not cut, so this is another encoding.
    expect(decodeText(Buffer.from('aä').subarray(0, 2), true)).toBe('aÃ')
  })
})
