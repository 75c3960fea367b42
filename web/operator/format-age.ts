import { formatDuration } from '../shared/format.ts'

const DAY_SECONDS = 86_400

/** As `formatDuration`, from two days on in days. */
export function formatAge(seconds: number): string {
  const days = Math.floor(seconds / DAY_SECONDS)
  return days < 2 ? formatDuration(seconds) : `${days} d`
}
