import { extensionOf, kindOf } from '../file-kind.ts'

/** A file that may be a photo. */
export interface Photo {
  readonly name: string
  readonly size: number
  readonly media_type?: string | undefined
}

/** Larger images are not read to show them small. */
export const MAX_IMAGE_BYTES = 16 * 2 ** 20

/** Whether a thumbnail of the file can be made, as far as its name and size tell. */
export function mayHaveThumbnail({ name, media_type: type, size }: Photo): boolean {
  if (kindOf(name, type) !== 'image' || size === 0) return false
  return isJpeg(name, type) || (size <= MAX_IMAGE_BYTES && !UNDECODED.has(extensionOf(name)))
}

const UNDECODED: ReadonlySet<string> = new Set('svg heic heif tif tiff raw dng'.split(' '))

export function isJpeg(name: string, type: string | undefined): boolean {
  return type === 'image/jpeg' || ['jpg', 'jpeg'].includes(extensionOf(name))
}
