import * as fc from 'fast-check'
import { type FileName, parseFileName } from '../../../src/core/files/file-name.ts'
import { contentDisposition } from '../../../src/http/headers/content-headers.ts'
import { describe, expect, it } from 'vitest'

const VALUE =
  /^attachment; filename="([^"\\]*)"; filename\*=UTF-8''((?:[A-Za-z0-9!#$&+.^_`|~-]|%[0-9A-F]{2})*)$/

const fileName = fc.string({ unit: 'binary', minLength: 1, maxLength: 80 }).filter(isFileName)

function isFileName(text: string): text is FileName {
  try {
    return parseFileName(text) === text
  } catch {
    return false
  }
}

function parts(name: string): { ascii: string | undefined; encoded: string } {
  const [, ascii, encoded = ''] = VALUE.exec(contentDisposition(parseFileName(name))) ?? []
  return { ascii, encoded }
}

describe('contentDisposition', () => {
  it('names the file twice, for old clients and exactly', () => {
    expect(contentDisposition(parseFileName('report 2027.pdf'))).toBe(
      `attachment; filename="report 2027.pdf"; filename*=UTF-8''report%202027.pdf`,
    )
  })

  it.each([
    ['"; filename=evil.exe', '_; filename=evil.exe', '%22%3B%20filename%3Devil.exe'],
    ['ä😀', '__', '%C3%A4%F0%9F%98%80'],
    ["a'(b)*", "a'(b)*", 'a%27%28b%29%2A'],
    ['100%41', '100_41', '100%2541'],
  ])('writes %j as %j and %s', (name, ascii, encoded) => {
    expect(parts(name)).toEqual({ ascii, encoded })
  })

  it('is printable ASCII and well-formed, whatever the name (property)', () => {
    fc.assert(
      fc.property(fileName, (name) => {
        const value = contentDisposition(name)
        expect(value).toMatch(/^[\u0020-\u007e]*$/)
        expect(value).toMatch(VALUE)
        expect(new Headers({ 'content-disposition': value }).get('content-disposition')).toBe(value)
      }),
    )
  })

  it('decodes back to the exact name (property)', () => {
    fc.assert(
      fc.property(fileName, (name) => {
        expect(decodeURIComponent(parts(name).encoded)).toBe(name)
      }),
    )
  })
})
