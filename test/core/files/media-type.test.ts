import { describe, expect, it } from 'vitest'
import {
  bodyMediaTypeOf,
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

  it.each([
    'application/octet-stream',
    'Application/Octet-Stream',
    'application/octet-stream; charset=binary',
  ])('is not stated by an upload that says %j, but by a user who sets it', (text) => {
    expect(mediaTypeOf(text)).toBeNull()
    expect(bodyMediaTypeOf(text)).toBeNull()
    expect(parseMediaType(text)).toBe(text)
  })

  it('is not stated by nothing', () => {
    expect(mediaTypeOf(undefined)).toBeNull()
    expect(bodyMediaTypeOf(undefined)).toBeNull()
  })

  it.each([
    'application/x-www-form-urlencoded',
    'Application/X-WWW-Form-Urlencoded; charset=UTF-8',
    ' application/x-www-form-urlencoded ',
  ])('is not stated by a body with %j, but by the part of a form', (text) => {
    expect(bodyMediaTypeOf(text)).toBeNull()
    expect(mediaTypeOf(text)).toBe(text.trim())
  })

  it('a body states any other media type', () => {
    expect(bodyMediaTypeOf('text/plain; a=b')).toBe('text/plain; a=b')
    expect(bodyMediaTypeOf('multipart/form-data; boundary=x')).toBe(
      'multipart/form-data; boundary=x',
    )
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
  ])('text that browsers may show is in UTF-8: %s', (type, shown) => {
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
