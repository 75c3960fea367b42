import { array, assert, nat, property, tuple } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exifThumbnail } from '../../../../web/shared/thumbnails/exif-thumbnail.ts'
import { imageSizeOf } from '../../../../web/shared/thumbnails/image-size.ts'
import { withExif } from '../../photos.ts'

const PHOTO = Buffer.from([0xff, 0xd8, 0xff, 0xd9])

/** As far as its size: no pixels. */
function thumbnail(width: number, height: number): Buffer {
  const head = Buffer.from([0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 0, 0, 0, 1, 0, 0, 0])
  head.writeUInt16BE(height, 7)
  head.writeUInt16BE(width, 9)
  return Buffer.concat([head, Buffer.from([0xff, 0xd9])])
}

const SMALL = thumbnail(160, 120)

describe('the thumbnail that a camera embeds', () => {
  it('is found, in both orders of bytes, also after another segment', () => {
    const photo = withExif(PHOTO, { thumbnail: SMALL })
    expect(Buffer.from(exifThumbnail(photo) ?? [])).toEqual(SMALL)
    const segment = Buffer.from([0xff, 0xe0, 0, 4, 0xff, 0xd8])
    const later = Buffer.concat([photo.subarray(0, 2), segment, photo.subarray(2)])
    expect(Buffer.from(exifThumbnail(later) ?? [])).toEqual(SMALL)
    expect(Buffer.from(exifThumbnail(bigEndian(photo)) ?? [])).toEqual(SMALL)
  })

  it('gets the orientation of the photo, as it has none of its own', () => {
    const turned = exifThumbnail(withExif(PHOTO, { thumbnail: SMALL, orientation: 6 }))
    const bytes = Buffer.from(turned ?? [])
    expect(bytes.subarray(0, 30).toString('hex')).toBe(
      'ffd8ffe100224578696600004d4d002a0000000800010112000300000001',
    )
    expect(bytes.readUInt16BE(30)).toBe(6)
    expect(bytes.subarray(38)).toEqual(SMALL.subarray(2))
    expect(imageSizeOf(bytes)).toEqual({ width: 160, height: 120 })
    for (const orientation of [0, 9, 0xffff]) {
      const plain = exifThumbnail(withExif(PHOTO, { thumbnail: SMALL, orientation }))
      expect(Buffer.from(plain ?? [])).toEqual(SMALL)
    }
  })

  it('is not taken if it is no JPEG, or would be large once it is decoded', () => {
    for (const embedded of [
      thumbnail(1025, 10),
      thumbnail(10, 65_535),
      thumbnail(0, 0),
      Buffer.from('<svg>'),
      Buffer.alloc(0),
    ]) {
      expect(exifThumbnail(withExif(PHOTO, { thumbnail: embedded }))).toBeUndefined()
    }
  })

  it('is not found in part, wherever the bytes end', () => {
    const photo = withExif(PHOTO, { thumbnail: SMALL })
    for (const end of photo.keys()) {
      // A few bytes of it are missing: browsers show that much.
      const found = exifThumbnail(photo.subarray(0, end)) ?? SMALL
      expect(imageSizeOf(found)).toEqual({ width: 160, height: 120 })
    }
    expect(exifThumbnail(photo.subarray(0, 60))).toBeUndefined()
    expect(exifThumbnail(new Uint8Array())).toBeUndefined()
  })

  it('is small, if any, whatever the bytes are', () => {
    const photo = withExif(PHOTO, { thumbnail: SMALL, orientation: 3 })
    const changes = array(tuple(nat(photo.length - 1), nat(255)), { maxLength: 6 })
    assert(
      property(changes, (changed) => {
        const bytes = Buffer.from(photo)
        for (const [at, value] of changed) bytes[at] = value
        const found = exifThumbnail(bytes)
        if (found === undefined) return
        const { width = 0, height = 0 } = imageSizeOf(found) ?? {}
        expect(Math.max(width, height)).toBeLessThanOrEqual(1024)
        expect(found.length).toBeLessThanOrEqual(photo.length)
      }),
      { numRuns: 5_000 },
    )
  })
})

/** The numbers of the TIFF header that `withExif` writes, in the order of Motorola's bytes. */
function bigEndian(photo: Buffer): Buffer {
  const bytes = Buffer.from(photo)
  const tiff = bytes.subarray(12)
  tiff.write('MM')
  const swap16 = (at: number) => tiff.subarray(at, at + 2).swap16()
  const swap32 = (at: number) => tiff.subarray(at, at + 4).swap32()
  for (const at of [2, 8, 10, 12, 18, 26, 28, 30, 40, 42]) swap16(at)
  for (const at of [4, 14, 22, 32, 36, 44, 48]) swap32(at)
  return bytes
}
