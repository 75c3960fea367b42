import type { Browser } from 'playwright-core'

const KINDS = ['mountains', 'sea', 'meadow', 'forest', 'city', 'night'] as const

export interface Landscape {
  readonly kind: (typeof KINDS)[number]
  /** In degrees, of the sky. */
  readonly hue: number
  readonly width?: number
  readonly height?: number
}

/** Photos of made-up landscapes as JPEG files, painted by the browser. The same landscapes always look the same. */
export async function paintLandscapes(
  browser: Browser,
  landscapes: readonly Landscape[],
): Promise<readonly Buffer[]> {
  const page = await browser.newPage()
  const painted = (await page.evaluate(`(${PAINT})(${JSON.stringify(landscapes)})`)) as string[]
  await page.close()
  return painted.map((base64) => Buffer.from(base64, 'base64'))
}

const PAINT = `(landscapes) => Promise.all(landscapes.map(async (landscape, seed) => {
  const { kind, hue, width = 1600, height = 1200 } = landscape
  const canvas = new OffscreenCanvas(width, height)
  const ink = canvas.getContext('2d')
  let state = 7 + seed * 7919
  const random = () => {
    state = (state * 1664525 + 1013904223) % 4294967296
    return state / 4294967296
  }
  const color = (h, s, l, a = 1) => 'hsla(' + h + ',' + s + '%,' + l + '%,' + a + ')'
  const X = (x) => x * width
  const Y = (y) => y * height
  const box = (x, y, w, h, fill) => {
    ink.fillStyle = fill
    ink.fillRect(X(x), Y(y), X(w), Y(h))
  }
  const fade = (top, bottom, stops) => {
    const gradient = ink.createLinearGradient(0, Y(top), 0, Y(bottom))
    stops.forEach((stop, at) => gradient.addColorStop(at / (stops.length - 1), stop))
    box(0, top, 1, bottom - top, gradient)
  }
  const disc = (x, y, r, fill) => {
    ink.fillStyle = fill
    ink.beginPath()
    ink.ellipse(X(x), Y(y), r * height, r * height, 0, 0, 7)
    ink.fill()
  }
  const glow = (x, y, r, [h, s, l, a]) => {
    const gradient = ink.createRadialGradient(X(x), Y(y), 0, X(x), Y(y), r * height)
    for (let at = 0; at <= 4; at++) gradient.addColorStop(at / 4, color(h, s, l, a * (1 - at / 4) ** 2))
    disc(x, y, r, gradient)
  }
  // A line of hills: sines of random phases, the sharper ones folded into peaks.
  const ridge = ({ y, rise, sharp, fill }) => {
    const waves = [1.3, 2.9, 6.1, 13, 29].map((often, at) => [often, random() * 7, 1 / (at + 1) ** 1.4])
    ink.fillStyle = fill
    ink.beginPath()
    ink.moveTo(0, height)
    for (let x = 0; x <= width; x += 3) {
      const lift = waves.reduce((sum, [often, phase, share]) => {
        const wave = Math.sin((x / width) * often * 3 + phase)
        return sum + share * (sharp ? 1 - 2 * Math.abs(wave) : wave)
      }, 0)
      ink.lineTo(x, Y(y - rise * lift))
    }
    ink.lineTo(width, height)
    ink.fill()
  }
  const ridges = (count, { from, to, rise, sharp = false, fill }) => {
    for (let at = 0; at < count; at++) {
      const share = count === 1 ? 1 : at / (count - 1)
      ridge({ y: from + (to - from) * share, rise: rise * (1 - share / 2), sharp, fill: fill(share) })
    }
  }
  const sunX = 0.25 + random() * 0.5
  const paint = {
    mountains() {
      fade(0, 1, [color(hue, 65, 58), color(hue + 25, 75, 82), color(hue + 45, 85, 90)])
      glow(sunX, 0.36, 0.5, [48, 100, 88, 0.9])
      disc(sunX, 0.36, 0.055, color(48, 100, 94))
      const fill = (near) => color(hue + 15 + near * 20, 22 + near * 22, 76 - near * 58)
      ridges(5, { from: 0.52, to: 0.9, rise: 0.11, sharp: true, fill })
    },
    sea() {
      fade(0, 0.58, [color(hue, 62, 48), color(hue + 150, 80, 82)])
      glow(sunX, 0.5, 0.45, [40, 100, 80, 0.95])
      disc(sunX, 0.5, 0.06, color(46, 100, 92))
      ridges(1, { from: 0.575, to: 0.575, rise: 0.025, fill: () => color(hue, 30, 42) })
      fade(0.58, 1, [color(hue + 8, 55, 58), color(hue + 4, 65, 24)])
      for (let at = 0; at < 420; at++) {
        const y = 0.585 + random() ** 1.7 * 0.4
        const spread = (y - 0.5) * (random() - 0.5) * 1.1
        const w = 0.008 + random() * (y - 0.55) * 0.16
        box(sunX + spread - w / 2, y, w, 0.002 + (y - 0.58) * 0.008, color(45, 100, 90, 0.35))
      }
      ridges(1, { from: 0.95, to: 0.95, rise: 0.02, fill: () => color(36, 45, 62) })
    },
    meadow() {
      fade(0, 0.6, [color(hue, 70, 60), color(hue - 10, 80, 88)])
      for (let at = 0; at < 26; at++) {
        glow(random(), 0.1 + random() * 0.22, 0.05 + random() * 0.1, [hue, 30, 98, 0.55])
      }
      const fill = (near) => color(95 - near * 18, 34 + near * 14, 62 - near * 30)
      ridges(4, { from: 0.5, to: 0.66, rise: 0.035, fill })
      for (let at = 0; at < 900; at++) {
        const depth = random() ** 0.6
        const y = 0.64 + depth * 0.36
        const petal = [color(350, 80, 62), color(45, 95, 62), color(280, 45, 72), color(0, 0, 98)]
        const r = 0.003 + depth * depth * 0.016
        disc(random(), y, r, petal[Math.floor(random() * 4)])
      }
    },
    forest() {
      fade(0, 1, [color(hue, 35, 84), color(hue + 10, 30, 92)])
      glow(sunX, 0.3, 0.6, [50, 90, 92, 0.9])
      for (let row = 0; row < 5; row++) {
        const near = row / 4
        const fill = color(150 + near * 12, 16 + near * 20, 74 - near * 58)
        ridge({ y: 0.62 + near * 0.28, rise: 0.02, sharp: false, fill })
        for (let x = -0.05; x < 1.05; x += 0.012 + near * 0.03 + random() * 0.02) {
          const [base, tall] = [0.66 + near * 0.3, (0.12 + near * 0.26) * (0.7 + random() * 0.6)]
          const wide = tall * 0.17
          ink.fillStyle = fill
          ink.beginPath()
          ink.moveTo(X(x), Y(base - tall))
          ink.lineTo(X(x + wide), Y(base))
          ink.lineTo(X(x - wide), Y(base))
          ink.fill()
        }
      }
    },
    city() {
      fade(0, 1, [color(hue, 55, 32), color(hue + 60, 60, 62), color(hue + 100, 85, 78)])
      glow(sunX, 0.72, 0.6, [25, 100, 76, 0.8])
      for (let row = 0; row < 3; row++) {
        const near = row / 2
        for (let x = -0.02; x < 1; ) {
          const w = 0.045 + random() * 0.06 + near * 0.02
          const top = 0.36 + near * 0.16 + random() * 0.3
          box(x, top, w, 1 - top, color(hue + 10, 30 + near * 10, 46 - near * 34))
          const step = 0.013 + near * 0.002
          for (let wx = x + 0.008; row > 0 && wx < x + w - 0.01; wx += step) {
            for (let wy = top + 0.02; wy < 0.97; wy += step * 2) {
              if (random() < 0.42) box(wx, wy, 0.006, 0.012, color(44, 95, 74, 0.5 + near * 0.4))
            }
          }
          x += w + random() * 0.012
        }
      }
    },
    night() {
      fade(0, 1, [color(hue, 60, 9), color(hue + 12, 55, 22), color(hue + 40, 45, 42)])
      for (let at = 0; at < 500; at++) {
        disc(random(), random() ** 1.3 * 0.75, 0.0007 + random() ** 6 * 0.003, color(50, 60, 96, 0.9))
      }
      glow(sunX, 0.26, 0.3, [50, 60, 86, 0.5])
      disc(sunX, 0.26, 0.06, color(48, 45, 93))
      const fill = (near) => color(hue + 10, 34, 26 - near * 21)
      ridges(4, { from: 0.66, to: 0.9, rise: 0.07, sharp: true, fill })
    },
  }
  paint[kind]()
  const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.85 })
  const bytes = new Uint8Array(await blob.arrayBuffer())
  return btoa([...bytes].map((byte) => String.fromCharCode(byte)).join(''))
}))`
