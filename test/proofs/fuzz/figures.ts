import type { FuzzFigures } from './run.ts'

/** The figures of a run, one per line. */
export function describeFigures({ tally, health, seconds }: FuzzFigures): string {
  const statuses = [...tally.statuses].sort(([one], [other]) => one - other)
  const mebibytes = (bytes: number | undefined): string =>
    bytes === undefined ? 'unknown' : `${Math.round(bytes / 2 ** 20)} MiB`
  return Object.entries({
    cases: tally.cases,
    'cases per minute': Math.round((tally.cases / Math.max(seconds, 0.001)) * 60),
    seconds: Math.round(seconds),
    'answers by status': statuses.map(([status, count]) => `${status}: ${count}`).join(', '),
    'connections without an answer': tally.unanswered,
    'longest wait for /livez': `${Math.round(health.longestStallMs)} ms`,
    'memory after warm-up': mebibytes(health.residentAtStart),
    'memory at the end': mebibytes(health.residentAtEnd),
    findings: tally.findings.length,
  })
    .map(([name, figure]) => `${name}: ${figure}`)
    .join('\n')
}
