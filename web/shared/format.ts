/** The formats of a language. Created once: that takes longer than formatting a table row. */
function createFormats(language: string) {
  return {
    number: new Intl.NumberFormat(language),
    names: new Intl.Collator(language, { numeric: true }),
    bytes: new Intl.NumberFormat(language, {
      style: 'unit',
      unit: 'byte',
      unitDisplay: 'long',
      useGrouping: false,
    }),
    day: new Intl.DateTimeFormat(language, { year: 'numeric', month: 'short', day: 'numeric' }),
    moment: new Intl.DateTimeFormat(language, {
      hour: '2-digit',
      minute: '2-digit',
      hour12: false,
    }),
    whole: new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'medium' }),
  }
}

let formats = createFormats('en')

/** Formats in `language` from now on, a tag of BCP 47; before it is called, in English. */
export function formatIn(language: string): void {
  formats = createFormats(language)
}

/** Compares as people sort: `b` after `A`, and `10` after `9`. */
export function compareNames(a: string, b: string): number {
  return formats.names.compare(a, b)
}

const UNITS = ['', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/** A size such as `1.5 GiB`, rounded down, so that free space never looks larger than it is. */
export function formatBytes(bytes: number): string {
  return format(bytes, Math.floor)
}

/** A required size, rounded up, so that it is enough. */
export function formatNeed(bytes: number): string {
  return format(bytes, Math.ceil)
}

function format(bytes: number, round: (value: number) => number): string {
  if (bytes < 1024) return formats.bytes.format(round(bytes))
  let power = Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1)
  // At most three digits: 1,003 MiB is 0.97 GiB.
  if (round(bytes / 1024 ** power) >= 1000 && power < UNITS.length - 1) power += 1
  const value = bytes / 1024 ** power
  const digits = value < 1 ? 100 : value < 10 ? 10 : 1
  return `${formats.number.format(round(value * digits) / digits)} ${UNITS[power]}`
}

export function formatCount(count: number): string {
  return formats.number.format(count)
}

export function formatDuration(seconds: number): string {
  const whole = Math.max(1, Math.ceil(seconds))
  if (whole < 60) return `${whole} s`
  const minutes = Math.ceil(whole / 60)
  if (minutes < 60) return `${minutes} min`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** A time to the second. */
export function formatWholeTime(time: string): string {
  return formats.whole.format(new Date(time))
}

/** The time of day for today, the date for other days. */
export function formatTime(time: string): string {
  const date = new Date(time)
  return date.toDateString() === new Date().toDateString()
    ? formats.moment.format(date)
    : formats.day.format(date)
}
