import { describe, expect, it } from 'vitest'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { MAX_MEDIA_TYPE_BYTES, mediaTypeOf } from '../../../src/core/files/media-type.ts'
import { NO_METADATA, parseMetadata } from '../../../src/core/files/metadata.ts'
import {
  descriptionIn,
  MAX_OBJECT_METADATA_BYTES,
  nameIn,
  objectMetadata,
} from '../../../src/core/files/object-metadata.ts'

const metadataOf = (bytes: number) =>
  parseMetadata(JSON.stringify({ a: 'x'.repeat(bytes - '{"a":""}'.length) }))

/** As MinIO counts. */
const bytesOf = (recorded: Readonly<Record<string, string>>) =>
  Object.entries(recorded).reduce(
    (sum, [name, value]) => sum + `x-amz-meta-${name}${value}`.length,
    0,
  )

describe('the metadata of an object', () => {
  const name = parseFileName('a bé')
  const mediaType = mediaTypeOf('video/mp4; codecs="a,  b"')
  const metadata = parseMetadata('{"camera":"Köln  \\n"}')

  it('tell the name, the media type and the metadata of the file again', () => {
    const deviceId = 'camera.17:a@b_c-d'
    const recorded = objectMetadata({ name, mediaType, metadata, deviceId })
    expect(nameIn(recorded)).toBe(name)
    expect(descriptionIn(recorded)).toEqual({ mediaType, metadata, deviceId })
    // A header of an S3 request has no spaces that a server could fold.
    expect(Object.values(recorded).join('')).toMatch(/^[!-~]*$/)
  })

  it('have only what is said', () => {
    const recorded = objectMetadata({ name, metadata: NO_METADATA })
    expect(Object.keys(recorded)).toEqual(['name'])
    expect(descriptionIn(recorded)).toEqual({ mediaType: null, metadata: null, deviceId: null })
  })

  it('leave out the metadata of a file that do not fit beside its name and media type', () => {
    const fits = (bytes: number) =>
      descriptionIn(objectMetadata({ name: parseFileName('a'), metadata: metadataOf(bytes) }))
        .metadata !== null
    const largest = Array.from({ length: 2000 }, (_, at) => at + 48).findLast(fits) ?? 0
    expect(largest).toBe(1509)
    const whole = objectMetadata({ name: parseFileName('a'), metadata: metadataOf(largest) })
    expect(bytesOf(whole)).toBeLessThanOrEqual(MAX_OBJECT_METADATA_BYTES)
  })

  it('always have room for the longest name, media type and device', () => {
    const longest = objectMetadata({
      name: parseFileName(`${'\u{1f4be}'.repeat(63)}/`.repeat(4).slice(0, -1)),
      mediaType: mediaTypeOf(`a/b;c="${' '.repeat(MAX_MEDIA_TYPE_BYTES - 8)}"`),
      metadata: metadataOf(2048),
      deviceId: 'd'.repeat(128),
    })
    expect(Object.keys(longest)).toEqual(['name', 'media-type', 'device'])
    expect(bytesOf(longest)).toBeLessThanOrEqual(MAX_OBJECT_METADATA_BYTES)
  })

  it.each([
    [{ 'media-type': '%' }],
    [{ 'media-type': 'x', metadata: '' }],
    [{ metadata: '*', device: 'a b' }],
    [{ metadata: Buffer.from('{"a":1}').toString('base64url') }],
  ])('say nothing if they cannot be read: %j', (recorded) => {
    expect(descriptionIn(recorded as Readonly<Record<string, string>>)).toEqual({
      mediaType: null,
      metadata: null,
      deviceId: null,
    })
  })
})
