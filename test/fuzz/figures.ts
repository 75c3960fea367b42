import type { FuzzFigures } from './run.ts'

/** A run's figures, one a line. */
export function describeFigures({ tally, health, seconds }: FuzzFigures): string {
  const statuses = [...tally.statuses].sort(([one], [other]) => one - other)
  const mebibytes = (bytes: number | undefined): string =>
    bytes === undefined ? 'unknown' : `${Math.round(bytes / 2 ** 20)} MiB`
  return Object.entries({
    cases: tally.cases,
    'cases a minute': Math.round((tally.cases / Math.max(seconds, 0.001)) * 60),
    seconds: Math.round(seconds),
    'answers by status': statuses.map(([status, count]) => `${status}: ${count}`).join(', '),
    'connections without an answer': tally.unanswered,
    'longest wait for /livez': `${Math.round(health.longestStallMs)} ms`,
    'memory when warm and at the end': `${mebibytes(health.residentAtStart)}, ${mebibytes(health.residentAtEnd)}`,
    findings: tally.findings.length,
  })
    .map(([name, figure]) => `${name}: ${figure}`)
    .join('\n')
}
