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
  [0, 'GIF8', (view) => ({ width: view.getUint16(6, true), height: view.getUint16(8, true) })],
  [8, 'WEBP', (view) => sizeOfWebp(view)],
  [4, 'ftypavi', (view) => sizeOfAvif(view)],
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

/** The segments of a JPEG image before its pixels. Throws a `RangeError` if the view ends within one. */
export function* segmentsOf(view: DataView): Generator<Segment> {
  for (let at = 2; ;) {
    if (view.getUint8(at) !== 0xff) return
    const marker = view.getUint8(at + 1)
    const length = view.getUint16(at + 2)
    // The pixels follow; or the length does not even count itself.
    if (marker === 0xda || marker === 0xd9 || length < 2) return
    yield { marker, at: at + 4, end: at + 2 + length }
    at += 2 + length
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

/** The largest `ispe` among the properties of the items, which stand within the first bytes. */
function sizeOfAvif(view: DataView): ImageSize | undefined {
  let most: ImageSize | undefined
  for (let at = 0; at < Math.min(view.byteLength - 20, AVIF_HEAD_BYTES); at += 1) {
    if (view.getUint32(at) !== 0x69737065) continue
    const size = { width: view.getUint32(at + 8), height: view.getUint32(at + 12) }
    if (most === undefined || size.width * size.height > most.width * most.height) most = size
  }
  return most
}

const AVIF_HEAD_BYTES = 4096
