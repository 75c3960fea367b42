import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { printable } from '../../src/cli/render.ts'

describe('a text on a terminal', () => {
  it.each([
    ['\u009b31mred', '\\u009b31mred'],
    ['\u001b]0;title\u0007', '\\u001b]0;title\\u0007'],
    ['photo\u202egpj.exe', 'photo\\u202egpj.exe'],
    ['a\u2028b\u2029c\rd\te', 'a\\u2028b\\u2029c\\u000dd\\u0009e'],
    ['\u{e0041}', '\\udb40\\udc41'],
    ['naïve 文件 😀\nnext', 'naïve 文件 😀\nnext'],
  ])('%j is printed as %j', (text, printed) => {
    expect(printable(text)).toBe(printed)
  })

  it('is the same JSON document as before (property)', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const printed = printable(JSON.stringify(value))
        expect(printed).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u)
        expect(JSON.parse(printed)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })
})
