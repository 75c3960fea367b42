import { assert, constantFrom, nat, property, tuple, uint8Array } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { imageSizeOf } from '../../../../web/shared/thumbnails/image-size.ts'

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

const HEADS = {
  jpeg: latin1('\xff\xd8\xff\xe0\0\x04\x01\x02\xff\xc2\0\x0b\x08\x01\0\x02\0\x01\0\0\0'),
  png: latin1('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\0\0\0\x01\0'),
  gif: latin1(`GIF89a\0\x02\0\x01\x80\0\0${'?'.repeat(6)}!\xf9\x04????\0,${'\0'.repeat(9)}`),
  'gif, with a larger frame': latin1('GIF89a\x01\0\x01\0\0\0\0,\x01\0\x02\0\xff\x01\xfe\0\0'),
  'webp, extended': latin1('RIFF????WEBPVP8X\x0a\0\0\0\0\0\0\0\xff\x01\0\xff\0\0'),
  'webp, lossless': latin1('RIFF????WEBPVP8L\0\0\0\0\x2f\xff\xc1\x3f\0'),
  'webp, lossy': latin1('RIFF????WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\0\x02\0\x41'),
  avif: latin1(
    `\0\0\0\x14ftypavif????????\0\0\x30\x3cmeta\0\0\0\x14ispe\0\0\0\0\0\0\0\x09\0\0\0\x09` +
      `${'?'.repeat(0x3000)}\0\0\0\x14ispe\0\0\0\0\0\0\x02\0\0\0\x01\0${'\0'.repeat(12)}`,
  ),
} as const

describe('the size of an image', () => {
  it.each(Object.entries(HEADS))('the size of %s stands in its head', (_, head) => {
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

  it('the size of a JPEG is not known where a decoder could find another one', () => {
    const start = latin1('\xff\xd8\xff\xe0\0\x04\x01\x02')
    const frame = HEADS.jpeg.subarray(start.length)
    for (const skipped of ['\xff', '\xff\0', '\xff\x01', '\xff\xd0', '\xff\xd8', '\0']) {
      const image = Buffer.alloc(70_000)
      Buffer.concat([start, latin1(skipped), frame]).copy(image)
      // Where one continues that takes what is skipped for a segment.
      const length = image.readUInt16BE(start.length + 2)
      frame.copy(image, start.length + 2 + length)
      expect(imageSizeOf(image)).toBeUndefined()
    }
  })

  it('the size of an AVIF image stands among its properties, and nowhere else', () => {
    const [type, rest] = [HEADS.avif.subarray(0, 20), HEADS.avif.subarray(20)]
    const free = latin1(`\0\0\0\x1cfree\0\0\0\x14ispe${'?'.repeat(12)}`)
    expect(imageSizeOf(Buffer.concat([type, free, rest]))).toEqual({ width: 512, height: 256 })
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
