/** Milliseconds since the epoch, from any format of RFC 9110 section 5.6.7. The name of the weekday is ignored. */
export function parseHttpDate(text: string, nowMs: number = Date.now()): number | undefined {
  for (const format of [IMF_FIXDATE, RFC_850, ASCTIME]) {
    const parts = format.exec(text)?.groups
    if (parts !== undefined) return timeOf(parts, nowMs)
  }
  return undefined
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const MONTH = `(?<month>${MONTHS.join('|')})`
const TIME = String.raw`(?<hour>[01]\d|2[0-3]):(?<minute>[0-5]\d):(?<second>[0-5]\d|60)`
const SHORT_DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const LONG_DAY = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)'

const IMF_FIXDATE = new RegExp(
  String.raw`^${SHORT_DAY}, (?<day>\d\d) ${MONTH} (?<year>\d{4}) ${TIME} GMT$`,
)
const RFC_850 = new RegExp(
  String.raw`^${LONG_DAY}, (?<day>\d\d)-${MONTH}-(?<year>\d\d) ${TIME} GMT$`,
)
const ASCTIME = new RegExp(
  String.raw`^${SHORT_DAY} ${MONTH} (?<day>[ \d]\d) ${TIME} (?<year>\d{4})$`,
)

function timeOf(parts: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const { year = '', month = '', day, hour, minute, second } = parts
  const at = new Date(0)
  at.setUTCFullYear(fullYear(year, nowMs), MONTHS.indexOf(month), Number(day))
  // A day beyond the end of the month rolls over into the next month.
  if (at.getUTCDate() !== Number(day)) return undefined
  return at.setUTCHours(Number(hour), Number(minute), Number(second))
}

/** A two-digit year more than 50 years ahead is in the past (RFC 9110 section 5.6.7). */
function fullYear(digits: string, nowMs: number): number {
  if (digits.length === 4) return Number(digits)
  const thisYear = new Date(nowMs).getUTCFullYear()
  const year = thisYear - (thisYear % 100) + Number(digits)
  return year > thisYear + 50 ? year - 100 : year
}
