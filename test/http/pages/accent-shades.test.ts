import { readFile } from 'node:fs/promises'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { accentShades } from '../../../src/http/pages/accent-shades.ts'

const styles = await readFile('web/shared/styles/base.css', 'utf8')

/** What the accent is read on, or what is read on it. */
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

it('shades of any color are legible on every background of the pages, in both schemes (property)', () => {
  const colors = fc.oneof(
    fc.constantFrom('#000000', '#ffffff', '#ffff00', '#0000ff', '#ff0000', '#808080'),
    fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`),
  )
  fc.assert(
    fc.property(colors, (color) => {
      const shades = new Map([...variablesOf(styles), ...Object.entries(accentShades(color))])
      for (const scheme of [0, 1] as const) {
        for (const pair of PAIRS) {
          const [one = '', other = ''] = pair.map((name) => shadesOf(shades.get(name))[scheme])
          const ratio = contrast(one, other)
          expect({ pair, scheme, ratio, isEnough: ratio >= 4.5 }).toMatchObject({ isEnough: true })
        }
      }
    }),
  )
})

it('a color that is legible as it is stays, and buttons always have it', () => {
  expect(accentShades('#ffcc00')).toMatchObject({ '--fill': '#ffcc00', '--on-fill': '#000000' })
  expect(accentShades('#0a6f50')).toMatchObject({ '--fill': '#0a6f50', '--on-fill': '#ffffff' })
  expect(accentShades('#0a6f50')['--accent']).toMatch(/^light-dark\(#0a6f50, /)
  expect(accentShades('#8fb0ff')['--accent']).toMatch(/, #8fb0ff\)$/)
  expect(accentShades('#ffcc00')['--accent']).toMatch(/, #ffcc00\)$/)
})

function variablesOf(css: string): readonly (readonly [string, string])[] {
  const found = css.matchAll(/(--[a-z-]+): (light-dark\(#\w{6}, #\w{6}\));/g)
  return Array.from(found, ([, name = '', value = '']) => [name, value])
}

function shadesOf(value = ''): readonly [string, string] {
  if (value.startsWith('#')) return [value, value]
  const [, light = '', dark = ''] = /^light-dark\((#\w{6}), (#\w{6})\)$/.exec(value) ?? []
  return [light, dark]
}

/** WCAG 2.2, written from its definition. */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : Math.pow((value + 0.055) / 1.055, 2.4)
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
