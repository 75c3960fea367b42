import { expect, it } from 'vitest'
import { visibleText } from '../../web/shared/visible-text.ts'

it.each([
  ['in-\u202egpj.exe', 'in-\ufffdgpj.exe'],
  ['a\u200b\u2066\ufeff.txt', 'a\ufffd\ufffd\ufffd.txt'],
  ['a\u034f\u3164\u{e0041}\u00ad.txt', 'a\ufffd\ufffd\ufffd\ufffd.txt'],
  [' ', '\ufffd'],
  ['\u00a0\u3000\u200d', '\ufffd\ufffd\ufffd'],
  [' a ', ' a '],
  ['', ''],
  ['صورة.jpg', 'صورة.jpg'],
  ['می\u200cخواهم.txt', 'می\u200cخواهم.txt'],
  ['👩\u200d👧.png', '👩\u200d👧.png'],
])('The text %j is shown as %j', (name, shown) => {
  expect(visibleText(name)).toBe(shown)
})
