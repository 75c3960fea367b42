import { assert, constantFrom, nat, property, tuple, uint8Array } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { imageSizeOf } from '../../../../web/user/thumbnails/image-size.ts'

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

const HEADS = {
  jpeg: latin1('\xff\xd8\xff\xe0\0\x04\x01\x02\xff\xc2\0\x0b\x08\x01\0\x02\0\x01\0\0\0'),
  png: latin1('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\0\0\0\x01\0'),
  gif: latin1('GIF89a\0\x02\0\x01'),
  'webp, extended': latin1('RIFF????WEBPVP8X\x0a\0\0\0\0\0\0\0\xff\x01\0\xff\0\0'),
  'webp, lossless': latin1('RIFF????WEBPVP8L\0\0\0\0\x2f\xff\xc1\x3f\0'),
  'webp, lossy': latin1('RIFF????WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\0\x02\0\x41'),
  avif: latin1(
    `\0\0\0\x14ftypavif\0\0\0\x14ispe\0\0\0\0\0\0\0\x09\0\0\0\x09` +
      `\0\0\0\x14ispe\0\0\0\0\0\0\x02\0\0\0\x01\0${'\0'.repeat(20)}`,
  ),
} as const

describe('the size of an image', () => {
  it.each(Object.entries(HEADS))('of %s stands in its head', (_, head) => {
    expect(imageSizeOf(head)).toEqual({ width: 512, height: 256 })
  })

  it('is not known of a part of a head, of other formats, and of pixels without a frame', () => {
    const { jpeg } = HEADS
    for (let end = 0; end < 17; end += 1) expect(imageSizeOf(jpeg.subarray(0, end))).toBeUndefined()
    expect(imageSizeOf(Buffer.from('BM and more'))).toBeUndefined()
    expect(imageSizeOf(Buffer.from('RIFF????WEBPANIM and more bytes'))).toBeUndefined()
    expect(imageSizeOf(new Uint8Array([0xff, 0xd8, 0xff, 0xda, 0, 2]))).toBeUndefined()
    // Segments whose length does not count itself lead nowhere.
    expect(imageSizeOf(new Uint8Array([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0, 0]))).toBeUndefined()
  })

  it('is a size or unknown, whatever the bytes are', () => {
    const head = constantFrom(...Object.values(HEADS))
    const hostile = tuple(head, uint8Array({ maxLength: 64 }), nat(40))
    assert(
      property(hostile, ([known, tail, at]) => {
        const bytes = Buffer.concat([known.subarray(0, at), tail])
        const { width = 1, height = 1 } = imageSizeOf(bytes) ?? {}
        expect(width >= 0 && height >= 0).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })
})
