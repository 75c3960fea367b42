import { expect, it } from 'vitest'
import { isAppError } from '../../../src/core/errors.ts'
import {
  isInteropVersion,
  parseBytes,
  parseContent,
} from '../../../src/http/public/draft/draft-headers.ts'
import { createRandom, type Random } from '../../proofs/simulation/plan/random.ts'

/** Integers of RFC 9651 that are no count of bytes, and what looks like one. */
const NO_BYTES =
  '|-1|1.0|1.5|1e3|0x1|"1"|+1|1,|1, 1|(1)|1 1|:MQ==:|?1|@1|NaN|1;|1;A|1;a=|9999999999999999|１'

const NO_BOOLEAN = '|1|0|true|?2|?|?1?|?1, ?1|?1;|(?1)|"?1"|? 1|?T'

const INVALID = expect.objectContaining({ code: 'invalid_parameter' }) as Error

it.each(NO_BYTES.split('|'))('takes "%s" for no number of bytes', (value) => {
  expect(() => parseBytes({ 'upload-offset': value }, 'Upload-Offset')).toThrow(INVALID)
  const headers = { 'upload-complete': '?0', 'upload-length': value }
  expect(() => parseContent(headers, 0)).toThrow(INVALID)
})

it.each(NO_BOOLEAN.split('|'))('takes "%s" for no word on completeness', (value) => {
  expect(() => parseContent({ 'upload-complete': value }, 0)).toThrow(INVALID)
})

it('reads parameters and spaces as RFC 9651 has them', () => {
  const headers = { 'upload-complete': '?1;a', 'upload-length': ' 9;b=1 ', 'content-length': '5' }
  expect(parseContent(headers, 4)).toMatchObject({ isLast: true, length: 9 })
  expect(isInteropVersion({ 'upload-draft-interop-version': '8;a' })).toBe(true)
  expect(isInteropVersion({ 'upload-draft-interop-version': '8.0' })).toBe(false)
})

it('refuses 2,000 malformed structured fields', () => {
  const random = createRandom(8)
  for (let at = 0; at < 2000; at += 1) {
    const name = random.pick(['upload-length', 'upload-complete'] as const)
    const headers = { 'upload-complete': '?0', [name]: malformed(random, name) }
    expect({ headers, error: refusalOf(headers) }).toEqual({ headers, error: INVALID })
  }
})

it('never fails on 500 digests and versions of any form', () => {
  const random = createRandom(9)
  for (let at = 0; at < 500; at += 1) {
    const value = mangled(random)
    expect(typeof isInteropVersion({ 'upload-draft-interop-version': value })).toBe('boolean')
    const error = refusalOf({ 'upload-complete': '?0', 'content-digest': value })
    expect([undefined, 'invalid_parameter']).toContain(isAppError(error) ? error.code : error)
  }
})

function refusalOf(headers: Parameters<typeof parseContent>[0]): unknown {
  try {
    parseContent(headers, 0)
    return undefined
  } catch (error) {
    return error
  }
}

/** What may precede parameters, which the fuzzer leaves alone: they do not count. */
const VALID = {
  'upload-length': /^ *\d{1,15} *(;|$)/,
  'upload-complete': /^ *\?[01] *(;|$)/,
}

function malformed(random: Random, name: keyof typeof VALID): string {
  for (;;) {
    const value = mangled(random)
    if (!VALID[name].test(value)) return value
  }
}

const SEEDS =
  '|?1|?0|4|9|4.0|-4|"4"|sha-256=:AAAA:|:AA==:|@4|%"4"|(4 5)|a=1, b|tok/en|4;a|*|999999999999999'

const CHARACTERS = ' \t!"#%()*+,-./0123456789:;=?@AZ[]\\_`az{|}~\u0080\u00e9\u00ff'

/** A value of some type, with up to three edits. */
function mangled(random: Random): string {
  let value = SEEDS.split('|')[random.below(17)] ?? ''
  for (let edits = random.below(4); edits > 0; edits -= 1) {
    const at = random.below(value.length + 1)
    const more = CHARACTERS.charAt(random.below(CHARACTERS.length))
    value =
      value.slice(0, at) + (random.chance(0.7) ? more : '') + value.slice(at + random.below(2))
  }
  return value
}
