import { crc32, deflateSync } from 'node:zlib'
import type { Browser } from 'playwright-core'

export interface Scene {
  readonly width: number
  readonly height: number
  /** In degrees: photos of different hues look different. */
  readonly hue: number
  readonly type?: 'image/jpeg' | 'image/png'
}

/** Images of a sun over hills, drawn by the browser. */
export async function drawScenes(
  browser: Browser,
  scenes: readonly Scene[],
): Promise<readonly Buffer[]> {
  const page = await browser.newPage()
  const drawn = (await page.evaluate(`(${DRAW})(${JSON.stringify(scenes)})`)) as number[][]
  await page.close()
  return drawn.map((bytes) => Buffer.from(bytes))
}

const DRAW = `(scenes) => Promise.all(scenes.map(async ({ width, height, hue, type = 'image/jpeg' }) => {
  const canvas = new OffscreenCanvas(width, height)
  const ink = canvas.getContext('2d')
  const sky = ink.createLinearGradient(0, 0, 0, height)
  sky.addColorStop(0, 'hsl(' + hue + ' 70% 55%)')
  sky.addColorStop(1, 'hsl(' + (hue + 40) + ' 80% 85%)')
  ink.fillStyle = sky
  ink.fillRect(0, 0, width, height)
  ink.fillStyle = 'hsl(' + (hue + 60) + ' 90% 70%)'
  ink.beginPath()
  ink.arc(width * 0.7, height * 0.35, height * 0.14, 0, 7)
  ink.fill()
  for (const [at, light] of [[0.62, 35], [0.76, 25]]) {
    ink.fillStyle = 'hsl(' + (hue + 120) + ' 35% ' + light + '%)'
    ink.beginPath()
    ink.moveTo(0, height)
    for (let x = 0; x <= width; x += 4) {
      ink.lineTo(x, height * (at + 0.06 * Math.sin((x / width) * 9 + at * 40)))
    }
    ink.lineTo(width, height)
    ink.fill()
  }
  const blob = await canvas.convertToBlob({ type, quality: 0.8 })
  return [...new Uint8Array(await blob.arrayBuffer())]
}))`

/** A white PNG of a bit for each pixel: a few kilobytes, which a browser decodes to four bytes for each pixel. */
export function blankPng(side: number): Buffer {
  const chunk = (type: string, content: Buffer): Buffer => {
    const named = Buffer.concat([Buffer.from(type), content])
    const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(content.length)
    checksum.writeUInt32BE(crc32(named))
    return Buffer.concat([length, named, checksum])
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(side, 0)
  head.writeUInt32BE(side, 4)
  head[8] = 1
  const rows = deflateSync(Buffer.alloc(side * (1 + Math.ceil(side / 8))))
  const magic = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
  const chunks = [chunk('IHDR', head), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([magic, ...chunks])
}

export interface Embedding {
  readonly thumbnail: Buffer
  /** From 1 to 8, as Exif counts. */
  readonly orientation?: number
}

/** The JPEG with Exif data as cameras write them: an orientation, and a thumbnail. */
export function withExif(jpeg: Buffer, { thumbnail, orientation = 1 }: Embedding): Buffer {
  const exif = Buffer.concat([Buffer.from('Exif\0\0'), tiff({ thumbnail, orientation })])
  const head = Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 0])
  head.writeUInt16BE(exif.length + 2, 4)
  return Buffer.concat([head, exif, jpeg.subarray(2)])
}

/** A directory of the photo, one of the thumbnail, and the thumbnail, in the order of Intel's bytes. */
function tiff({ thumbnail, orientation }: Required<Embedding>): Buffer {
  const head = Buffer.alloc(64)
  head.write('II*\0')
  head.writeUInt32LE(8, 4)
  const entry = (at: number, [tag, type, value]: readonly [number, number, number]) => {
    head.writeUInt16LE(tag, at)
    head.writeUInt16LE(type, at + 2)
    head.writeUInt32LE(1, at + 4)
    head.writeUInt32LE(value, at + 8)
  }
  head.writeUInt16LE(1, 8)
  entry(10, [0x0112, 3, orientation])
  head.writeUInt32LE(26, 22)
  head.writeUInt16LE(2, 26)
  entry(28, [0x0201, 4, 64])
  entry(40, [0x0202, 4, thumbnail.length])
  return Buffer.concat([head, thumbnail])
}
