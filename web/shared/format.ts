import { LANGUAGE } from '../language.ts'

// Created once: creating a formatter takes longer than formatting a table row.
const NUMBER = new Intl.NumberFormat(LANGUAGE)
const DAY = new Intl.DateTimeFormat(LANGUAGE, { year: 'numeric', month: 'short', day: 'numeric' })
const MOMENT = new Intl.DateTimeFormat(LANGUAGE, {
  hour: '2-digit',
  minute: '2-digit',
  hour12: false,
})
const WHOLE = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: 'full', timeStyle: 'medium' })

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/** A size such as `1.5 GiB`, rounded down, so that free space never looks larger than it is. */
export function formatBytes(bytes: number): string {
  return format(bytes, Math.floor)
}

/** A required size, rounded up, so that it is enough. */
export function formatNeed(bytes: number): string {
  return format(bytes, Math.ceil)
}

function format(bytes: number, round: (value: number) => number): string {
  if (bytes < 1024) return `${round(bytes)} ${bytes === 1 ? 'byte' : 'bytes'}`
  let power = Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1)
  // At most three digits: 1,003 MiB is 0.97 GiB.
  if (round(bytes / 1024 ** power) >= 1000 && power < UNITS.length - 1) power += 1
  const value = bytes / 1024 ** power
  const digits = value < 1 ? 100 : value < 10 ? 10 : 1
  return `${NUMBER.format(round(value * digits) / digits)} ${UNITS[power]}`
}

export function formatCount(count: number): string {
  return NUMBER.format(count)
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
  return WHOLE.format(new Date(time))
}

/** The time of day for today, the date for other days. */
export function formatTime(time: string): string {
  const date = new Date(time)
  return date.toDateString() === new Date().toDateString() ? MOMENT.format(date) : DAY.format(date)
}
