import { isJpeg, MAX_IMAGE_BYTES, type Photo } from './may-have-thumbnail.ts'
import { exifThumbnail } from './exif-thumbnail.ts'
import { imageSizeOf } from './image-size.ts'
import type { Semaphore } from './semaphore.ts'

/** The beginning of a photo that is read for its Exif data, which end within the first 64 KiB or so. */
const HEAD_BYTES = 128 * 2 ** 10

/** Images with more are not decoded to show them small. */
const MAX_IMAGE_PIXELS = 32 * 2 ** 20

/** Of the shorter side: sharp where a tile is shown with two pixels for one. */
const SIDE_PIXELS = 320

/** Of the longer side to the shorter one; more is a strip, of which a tile shows nothing. */
const MAX_RATIO = 8

export interface Making {
  /** Reads the bytes from `from` up to, not including, `to`, or to the end of the file. */
  readonly read: (from: number, to: number) => Promise<Uint8Array<ArrayBuffer>>
  /** Limits how many photos are decoded at a time: each takes four bytes for a pixel. */
  readonly decode: Semaphore
}

/**
 * A small image of a photo: the one that the camera embedded, without reading the photo, or else the photo decoded and
 * scaled. `undefined` if it is too large or cannot be decoded. Rejects as `read` does.
 */
export async function makeThumbnail(
  photo: Photo,
  { read, decode }: Making,
): Promise<Blob | undefined> {
  const { name, size, media_type: type } = photo
  const to = isJpeg(name, type) ? HEAD_BYTES : size
  const head = await read(0, to)
  const embedded = exifThumbnail(head)
  if (embedded !== undefined) return new Blob([embedded], { type: 'image/jpeg' })
  if (size > MAX_IMAGE_BYTES) return undefined
  const rest = await read(to, size)
  return await decode(() => scaled(head, rest))
}

/** Browsers decode a `Blob` outside of the page's thread. A worker needs a Trusted Types policy, and the page has none. */
async function scaled(
  head: Uint8Array<ArrayBuffer>,
  rest: Uint8Array<ArrayBuffer>,
): Promise<Blob | undefined> {
  const whole = new Blob([head, rest])
  const size = imageSizeOf(head) ?? imageSizeOf(new Uint8Array(await whole.arrayBuffer()))
  const { width = 0, height = 0 } = size ?? {}
  const [shorter, longer] = [Math.min(width, height), Math.max(width, height)]
  if (shorter === 0 || width * height > MAX_IMAGE_PIXELS || longer > shorter * MAX_RATIO) {
    return undefined
  }
  // The width alone: a photo that is turned by its orientation keeps its proportions.
  const resizeWidth = Math.ceil(width * Math.min(1, SIDE_PIXELS / shorter))
  const resize = { resizeWidth, resizeQuality: 'medium' } as const
  const bitmap = await createImageBitmap(whole, resize).catch(() => undefined)
  if (bitmap === undefined) return undefined
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0)
  bitmap.close()
  return await canvas.convertToBlob({ type: 'image/webp', quality: 0.8 })
}
