/** Milliseconds of a duration such as `90min`, `24h` or `7d`; `NaN` for any other text. */
export function parseDuration(text: string): number {
  const [, count, unit = ''] = /^(\d+) ?(min|h|d)$/.exec(text) ?? []
  return Number(count) * (UNITS.get(unit) ?? Number.NaN)
}

const UNITS: ReadonlyMap<string, number> = new Map([
  ['min', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])
