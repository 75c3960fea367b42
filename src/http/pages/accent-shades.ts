type Rgb = readonly [red: number, green: number, blue: number]

/**
 * The values of the accent's custom properties (`web/shared/styles/base.css`) for a color of `#` and six hexadecimal
 * digits. Buttons are filled with the color itself, with black or white text. What is read or seen on the background is
 * as close to the color as a contrast of 4.5 to 1 permits (WCAG 2.2, 1.4.3): darker in the light scheme, lighter in the
 * dark one.
 */
export function accentShades(color: string): Readonly<Record<string, string>> {
  const fill = parse(color)
  const [onFill, away] =
    contrast(fill, WHITE) >= MIN_CONTRAST ? [WHITE, BLACK] : ([BLACK, WHITE] as const)
  const light = legible(fill, LIGHT)
  const dark = legible(fill, DARK)
  return {
    '--accent': both(light, dark),
    '--accent-strong': both(mix(light, BLACK, 0.15), mix(dark, WHITE, 0.25)),
    '--accent-soft': both(softOf(light, LIGHT), softOf(dark, DARK)),
    '--fill': color,
    '--fill-strong': format(mix(fill, away, 0.15)),
    '--on-fill': format(onFill),
  }
}

const BLACK: Rgb = [0, 0, 0]
const WHITE: Rgb = [255, 255, 255]

interface Scheme {
  /** What the accent is mixed with until it is legible. */
  readonly towards: Rgb
  /** The background that is closest to the accent. */
  readonly background: Rgb
  /** What the soft shade is mixed with. */
  readonly surface: Rgb
}

const LIGHT: Scheme = { towards: BLACK, background: [238, 241, 246], surface: WHITE }
const DARK: Scheme = { towards: WHITE, background: [36, 42, 53], surface: [25, 29, 37] }

const MIN_CONTRAST = 4.5

const STEPS = 100

function legible(color: Rgb, scheme: Scheme): Rgb {
  for (let step = 0; step < STEPS; step += 1) {
    const shade = mix(color, scheme.towards, step / STEPS)
    const backgrounds = [scheme.background, softOf(shade, scheme)]
    if (backgrounds.every((background) => contrast(shade, background) >= MIN_CONTRAST)) return shade
  }
  return scheme.towards
}

function softOf(accent: Rgb, { surface }: Scheme): Rgb {
  return mix(accent, surface, 0.88)
}

function mix(color: Rgb, other: Rgb, share: number): Rgb {
  const part = (at: 0 | 1 | 2) => Math.round(color[at] + (other[at] - color[at]) * share)
  return [part(0), part(1), part(2)]
}

/** WCAG 2.2, "contrast ratio". */
function contrast(one: Rgb, other: Rgb): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

/** WCAG 2.2, "relative luminance". */
function luminance([red, green, blue]: Rgb): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

function linear(value: number): number {
  const share = value / 255
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
}

function parse(color: string): Rgb {
  const value = Number.parseInt(color.slice(1), 16)
  return [value >> 16, (value >> 8) & 255, value & 255]
}

function both(light: Rgb, dark: Rgb): string {
  return `light-dark(${format(light)}, ${format(dark)})`
}

function format(color: Rgb): string {
  return `#${color.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}
