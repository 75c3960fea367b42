import { describe, expect, it } from 'vitest'
import {
  INLINE_TYPES,
  inlineType,
  MAX_MEDIA_TYPE_BYTES,
  mediaTypeOf,
  parseMediaType,
} from '../../../src/core/files/media-type.ts'

describe('a media type', () => {
  it.each([
    'image/jpeg',
    'text/plain; charset=utf-8',
    'text/plain;charset="utf-8" ; format=flowed',
    'video/mp4; codecs="avc1.4D401E, mp4a.40.2"',
    "x-a.b+c/!#$%&'*+-.^_`|~",
    `a/${'b'.repeat(MAX_MEDIA_TYPE_BYTES - 2)}`,
  ])('is %s', (text) => {
    expect(mediaTypeOf(text)).toBe(text)
    expect(parseMediaType(text)).toBe(text)
  })

  it.each([
    '',
    'image',
    'image/',
    '/jpeg',
    'image/jpeg/x',
    'image/jpeg;',
    'image/jpeg; q',
    'image/jpeg; a = b',
    'image/jpeg, image/png',
    'image/jpe g',
    'image/jpeg; a="b',
    'image/jpeg; a="b"c',
    'image/jp\u00e9g',
    'image/jpeg\r\nX: y',
    'image/jpeg; a="\n"',
    `a/${'b'.repeat(MAX_MEDIA_TYPE_BYTES - 1)}`,
  ])('is not %j', (text) => {
    expect(mediaTypeOf(text)).toBeNull()
    expect(() => parseMediaType(text)).toThrow(/media_type must be/)
  })

  it('is the default if there is none, and has no other way to be written', () => {
    expect(mediaTypeOf(undefined)).toBeNull()
    expect(mediaTypeOf('Application/Octet-Stream')).toBeNull()
    expect(parseMediaType('application/octet-stream')).toBeNull()
  })
})

describe('a content that browsers may show', () => {
  it('has one of the types that run nothing', () => {
    for (const type of INLINE_TYPES) {
      expect(inlineType(mediaTypeOf(type))).toBe(
        type === 'text/plain' ? 'text/plain; charset=utf-8' : type,
      )
    }
    expect(inlineType(mediaTypeOf('IMAGE/Png ; a=b'))).toBe('image/png')
  })

  it.each([
    ['text/plain; charset=UTF-8', 'text/plain; charset=utf-8'],
    ['text/plain;charset="utf-8"', 'text/plain; charset=utf-8'],
    ['text/plain; charset=iso-8859-1', undefined],
    ['text/plain; charset=utf-8; charset=utf-7', undefined],
    ['text/plain; format=flowed', undefined],
  ])('as text is in UTF-8: %s', (type, shown) => {
    expect(inlineType(mediaTypeOf(type))).toBe(shown)
  })

  it.each([
    'text/html',
    'image/svg+xml',
    'application/pdf',
    'application/xhtml+xml',
    'text/xml',
    'text/javascript',
    'multipart/x-mixed-replace; boundary=a',
    'application/octet-stream',
    'image/*',
  ])('never has the type %s', (type) => {
    expect(inlineType(mediaTypeOf(type))).toBeUndefined()
  })
})
