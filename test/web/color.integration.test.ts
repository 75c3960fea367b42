import { readFile } from 'node:fs/promises'
import { beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from './fixture.ts'

/** What the color is read on, or what is read on it. */
const PAIRS = [
  ['--accent', '--canvas'],
  ['--accent', '--surface'],
  ['--accent', '--raised'],
  ['--accent', '--hover'],
  ['--accent', '--accent-soft'],
  ['--accent-strong', '--accent-soft'],
  ['--on-fill', '--fill'],
  ['--on-fill', '--fill-strong'],
  ['--text', '--accent-soft'],
  ['--quiet', '--accent-soft'],
] as const

const NAMES = [...new Set(PAIRS.flat())]
const SCHEMES = ['light', 'dark'] as const
type Scheme = (typeof SCHEMES)[number]

type Rgb = readonly [red: number, green: number, blue: number]
type Shades = Readonly<Record<(typeof NAMES)[number], Rgb>>

describeInBrowser('the shades of a color that an operator has set', (browser) => {
  let shadesOf: (colors: readonly string[], scheme: Scheme) => Promise<readonly Shades[]>

  beforeAll(async () => {
    const page = await browser().newPage()
    const styles = ['base', 'brand-colors'].map((name) =>
      readFile(`web/shared/styles/${name}.css`, 'utf8'),
    )
    await page.setContent(`<style>${(await Promise.all(styles)).join('')}</style><body>`)
    await page.evaluate(SHOW)
    shadesOf = async (colors, scheme) => {
      const call = `shadesOf(${JSON.stringify({ colors, scheme, names: NAMES })})`
      return (await page.evaluate(call)) as readonly Shades[]
    }
  })

  it('are legible on every background of the pages, in both schemes', async () => {
    const parts = ['00', '33', '66', '99', 'cc', 'ff']
    const colors = parts.flatMap((red) =>
      parts.flatMap((green) => parts.map((blue) => `#${red}${green}${blue}`)),
    )
    // Around the luminance at which the text on a button changes.
    const grays = Array.from({ length: 20 }, (_, at) => `#${(110 + at).toString(16).repeat(3)}`)
    for (const scheme of SCHEMES) {
      for (const shades of await shadesOf([...colors, ...grays], scheme)) {
        for (const pair of PAIRS) {
          const ratio = contrast(shades[pair[0]], shades[pair[1]])
          expect({ shades, scheme, pair, isEnough: ratio >= 4.5 }).toMatchObject({ isEnough: true })
        }
      }
    }
  })

  it('are the color itself where it is legible, and always on buttons', async () => {
    const [green, yellow]: readonly Rgb[] = [
      [10, 111, 80],
      [255, 204, 0],
    ]
    const colors = ['#0a6f50', '#ffcc00']
    expect(await shadesOf(colors, 'light')).toMatchObject([
      { '--accent': green, '--fill': green, '--on-fill': [255, 255, 255] },
      { '--fill': yellow, '--on-fill': [0, 0, 0] },
    ])
    expect(await shadesOf(colors, 'dark')).toMatchObject([
      { '--fill': green },
      { '--accent': yellow, '--fill': yellow },
    ])
  })
})

/** Runs in the page. A canvas tells the bytes of any color. */
const SHOW = `
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
  function shadesOf({ colors, scheme, names }) {
    const { style } = document.documentElement
    style.colorScheme = scheme
    return colors.map((color) => {
      style.setProperty('--brand', color)
      return Object.fromEntries(names.map((name) => [name, bytesOf('var(' + name + ')')]))
    })
  }
  function bytesOf(value) {
    document.body.style.color = value
    canvas.fillStyle = getComputedStyle(document.body).color
    canvas.fillRect(0, 0, 1, 1)
    return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)]
  }`

/** WCAG 2.2, written from its definition. */
function contrast(one: Rgb, other: Rgb): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(color: Rgb): number {
  const [red = 0, green = 0, blue = 0] = color.map((part) => {
    const value = part / 255
    return value <= 0.04045 ? value / 12.92 : Math.pow((value + 0.055) / 1.055, 2.4)
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
