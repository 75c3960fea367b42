import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isFileName, parseFileName } from '../../../src/core/files/file-name.ts'
import {
  DEFAULT_MEDIA_TYPE,
  mediaTypeOf,
  parseMediaType,
} from '../../../src/core/files/media-type.ts'
import { servedMediaType } from '../../../src/core/files/served-media-type.ts'

const typeOf = (name: string) => servedMediaType({ name: parseFileName(name), mediaType: null })

describe('the media type of a file', () => {
  it('is the one that was stated, whatever the name', () => {
    const stated = mediaTypeOf('text/x-log; charset=utf-8')
    expect(servedMediaType({ name: parseFileName('a.jpg'), mediaType: stated })).toBe(stated)
    const mediaType = parseMediaType('application/octet-stream')
    expect(servedMediaType({ name: parseFileName('a.jpg'), mediaType })).toBe(mediaType)
  })

  it.each([
    ['a.jpg', 'image/jpeg'],
    ['IMG_0001.JPG', 'image/jpeg'],
    ['Photos\u203a2026\u203aa.heic', 'image/heic'],
    ['clip.mp4', 'video/mp4'],
    ['front door.2026-11-28.mov', 'video/quicktime'],
    ['a.tar.gz', 'application/gzip'],
    ['caf\u00e9.txt', 'text/plain'],
    ['a..png', 'image/png'],
    ['readings.csv', 'text/csv'],
    ['data.json', 'application/json'],
  ])('the media type of %s is %s', (name, type) => {
    expect(typeOf(name)).toBe(type)
  })

  it.each([
    'README',
    'jpg',
    '.jpg',
    '.gitignore',
    'a.',
    'a.jpg ',
    'a.jpg.part',
    'a.unknown-to-all',
    'a.constructor',
    'a.__proto__',
    `a.${'x'.repeat(200)}`,
    'a.\u0134pg',
  ])('the media type of %s is the default', (name) => {
    expect(typeOf(name)).toBe(DEFAULT_MEDIA_TYPE)
  })

  it('is always a media type (property)', () => {
    const names = fc.string({ unit: 'binary', maxLength: 40 }).filter(isFileName)
    fc.assert(
      fc.property(names, (name) => {
        const type = typeOf(name)
        expect(parseMediaType(type)).toBe(type)
      }),
    )
  })
})
