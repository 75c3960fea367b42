export interface ImageSize {
  readonly width: number
  readonly height: number
}

/**
 * The size that the head of a JPEG, PNG, GIF, WebP or AVIF image states, which a browser would allocate to decode it;
 * `undefined` if `bytes` do not state one. Takes time linear in the bytes, whatever they are.
 */
export function imageSizeOf(bytes: Uint8Array): ImageSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    return SIZES.find(([at, magic]) => asciiAt(bytes, at, magic.length) === magic)?.[2](view)
  } catch (error) {
    // The bytes end before the size, or an offset in them leads beyond their end.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

export function asciiAt(bytes: Uint8Array, at: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + length))
}

const SIZES: readonly (readonly [
  at: number,
  magic: string,
  read: (view: DataView) => ImageSize | undefined,
])[] = [
  [0, '\xff\xd8', (view) => frameOf(view)],
  [0, '\x89PNG', (view) => ({ width: view.getUint32(16), height: view.getUint32(20) })],
  [0, 'GIF8', (view) => sizeOfGif(view)],
  [8, 'WEBP', (view) => sizeOfWebp(view)],
  [4, 'ftypavif', (view) => sizeOfAvif(view)],
]

/** Start of frame: of all markers from C0 to CF but three, which have other meanings. */
function frameOf(view: DataView): ImageSize | undefined {
  for (const { marker, at } of segmentsOf(view)) {
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { height: view.getUint16(at + 1), width: view.getUint16(at + 3) }
  }
  return undefined
}

export interface Segment {
  readonly marker: number
  /** Where its content begins and ends. */
  readonly at: number
  readonly end: number
}

/**
 * The segments of a JPEG image before its pixels. Throws a `RangeError` if the view ends within one. Stops at whatever a
 * decoder could skip in another way: what it takes for the size would stand elsewhere.
 */
export function* segmentsOf(view: DataView): Generator<Segment> {
  for (let at = 2; view.getUint8(at) === 0xff;) {
    const marker = view.getUint8(at + 1)
    const length = view.getUint16(at + 2)
    if (!hasLength(marker) || length < 2) return
    yield { marker, at: at + 4, end: at + 2 + length }
    at += 2 + length
  }
}

/** Whether a length follows the marker (ITU-T T.81, table B.1). After DA, the pixels follow. */
function hasLength(marker: number): boolean {
  return (marker >= 0xc0 && marker < 0xd0) || (marker > 0xda && marker < 0xff)
}

/** The screen, which browsers enlarge to hold the whole first frame. */
function sizeOfGif(view: DataView): ImageSize | undefined {
  const flags = view.getUint8(10)
  let at = 13 + (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)
  while (view.getUint8(at) === 0x21) {
    at += 2
    // Blocks of an extension, up to an empty one.
    for (let length = view.getUint8(at); length > 0; length = view.getUint8(at)) at += 1 + length
    at += 1
  }
  if (view.getUint8(at) !== 0x2c) return undefined
  const u16 = (from: number): number => view.getUint16(from, true)
  return {
    width: Math.max(u16(6), u16(at + 1) + u16(at + 5)),
    height: Math.max(u16(8), u16(at + 3) + u16(at + 7)),
  }
}

function sizeOfWebp(view: DataView): ImageSize | undefined {
  switch (view.getUint32(12)) {
    // `VP8X`
    case 0x56503858:
      return { width: uint24(view, 24) + 1, height: uint24(view, 27) + 1 }
    // `VP8L`
    case 0x5650384c: {
      const bits = view.getUint32(21, true)
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 }
    }
    // `VP8 `
    case 0x56503820: {
      const [width, height] = [view.getUint16(26, true), view.getUint16(28, true)]
      return { width: width & 0x3fff, height: height & 0x3fff }
    }
    default:
      return undefined
  }
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000
}

/** The largest `ispe` among the properties of the items, which stand in the box `meta`. */
function sizeOfAvif(view: DataView): ImageSize | undefined {
  for (let at = 0; ;) {
    const length = view.getUint32(at)
    if (view.getUint32(at + 4) === META) return largestIn(view, { at, end: at + length })
    // Up to the end of the file, or of more than 4 GiB.
    if (length < 8) return undefined
    at += length
  }
}

function largestIn(
  view: DataView,
  { at, end }: { readonly at: number; readonly end: number },
): ImageSize | undefined {
  let most: ImageSize | undefined
  for (let from = at; from < end - 16; from += 1) {
    if (view.getUint32(from) !== ISPE) continue
    const size = { width: view.getUint32(from + 8), height: view.getUint32(from + 12) }
    if (most === undefined || size.width * size.height > most.width * most.height) most = size
  }
  return most
}

/** `meta` and `ispe`. */
const META = 0x6d657461
const ISPE = 0x69737065
