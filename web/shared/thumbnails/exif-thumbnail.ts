import { asciiAt, imageSizeOf, segmentsOf } from './image-size.ts'

/**
 * The JPEG thumbnail that a camera embeds in the Exif data of a JPEG file, turned as the photo is; `undefined` if there
 * is none in `bytes`, the beginning of the file. Reads each byte at most twice, whatever the bytes are, and never returns
 * an image of more than `MAX_THUMBNAIL_PIXELS` on a side. Exif 2.32, sections 4.5 and 4.6.
 */
export function exifThumbnail(bytes: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  try {
    if (asciiAt(bytes, 0, 2) !== '\xff\xd8') return undefined
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (const { marker, at, end } of segmentsOf(view)) {
      if (marker !== APP1 || asciiAt(bytes, at, 6) !== 'Exif\0\0') continue
      return thumbnailIn(bytes.subarray(at + 6, end))
    }
  } catch (error) {
    // The bytes end too early, or an offset in them leads beyond their end.
    if (!(error instanceof RangeError)) throw error
  }
  return undefined
}

const APP1 = 0xe1

const MAX_THUMBNAIL_PIXELS = 1024

/** Tags of TIFF 6.0 and Exif. */
const ORIENTATION = 0x0112
const THUMBNAIL_OFFSET = 0x0201
const THUMBNAIL_LENGTH = 0x0202

/** `tiff` has the photo's directory of tags, and that of the thumbnail after it. */
function thumbnailIn(tiff: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  const order = asciiAt(tiff, 0, 2)
  const isLittle = order === 'II'
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength)
  if ((!isLittle && order !== 'MM') || view.getUint16(2, isLittle) !== 42) return undefined
  const photo = readDirectory(view, { at: view.getUint32(4, isLittle), isLittle })
  if (photo.next === 0) return undefined
  const { tags } = readDirectory(view, { at: photo.next, isLittle })
  const at = tags.get(THUMBNAIL_OFFSET) ?? 0
  const jpeg = tiff.subarray(at, at + (tags.get(THUMBNAIL_LENGTH) ?? 0))
  const size = asciiAt(jpeg, 0, 2) === '\xff\xd8' ? imageSizeOf(jpeg) : undefined
  const most = Math.max(size?.width ?? 0, size?.height ?? 0)
  if (most === 0 || most > MAX_THUMBNAIL_PIXELS) return undefined
  return turned(jpeg, photo.tags.get(ORIENTATION) ?? 1)
}

interface Directory {
  /** The values of tags that have a single number. */
  readonly tags: ReadonlyMap<number, number>
  /** Where the next directory begins; 0 if none follows. */
  readonly next: number
}

function readDirectory(
  view: DataView,
  { at, isLittle }: { readonly at: number; readonly isLittle: boolean },
): Directory {
  const count = view.getUint16(at, isLittle)
  const tags = new Map<number, number>()
  for (let entry = at + 2; entry < at + 2 + count * ENTRY_BYTES; entry += ENTRY_BYTES) {
    const isShort = view.getUint16(entry + 2, isLittle) === SHORT
    const value = isShort
      ? view.getUint16(entry + 8, isLittle)
      : view.getUint32(entry + 8, isLittle)
    tags.set(view.getUint16(entry, isLittle), value)
  }
  return { tags, next: view.getUint32(at + 2 + count * ENTRY_BYTES, isLittle) }
}

const ENTRY_BYTES = 12

/** The type of a value with 16 bits. */
const SHORT = 3

/** A segment whose only tag is the orientation. */
// oxfmt-ignore
const TURNED = [
  0xff, APP1, 0, 34, 0x45, 0x78, 0x69, 0x66, 0, 0, 0x4d, 0x4d, 0, 42, 0, 0, 0, 8,
  0, 1, ORIENTATION >> 8, ORIENTATION & 0xff, 0, SHORT, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,
]

/** Of the lower byte. */
const ORIENTATION_AT = 29

/** Puts Exif data with nothing but the orientation into a thumbnail, which has none of its own: browsers turn it then. */
function turned(jpeg: Uint8Array, orientation: number): Uint8Array<ArrayBuffer> {
  if (orientation < 2 || orientation > 8) return new Uint8Array(jpeg)
  const exif = TURNED.with(ORIENTATION_AT, orientation)
  return new Uint8Array([...jpeg.subarray(0, 2), ...exif, ...jpeg.subarray(2)])
}
