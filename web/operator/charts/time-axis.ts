import { formatAge } from '../format-age.ts'
import { operatorWords } from '../words.ts'

/** The times below a chart, from the first to the last point: none alike. */
export type TimeAxis = (from: number, to: number) => readonly string[]

/** First, middle and last day, in UTC as the days of the figures are. */
export const dayAxis: TimeAxis = (from, to) => {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  })
  return [...new Set([from, (from + to) / 2, to].map((time) => format.format(time)))]
}

/** How long ago the first point was. */
export const agoAxis: TimeAxis = (from, to) => {
  const { ago, now } = operatorWords.service
  return to > from ? [ago(formatAge((to - from) / 1000)), now] : [now]
}
