import type { Measured } from './contest.ts'
import type { FigureName } from './figures.ts'
import type { Machine } from './machine.ts'
import type { Verdict } from './verdicts.ts'
import type { Result } from './result.ts'
import type { Spread } from './statistics.ts'

/** All that a run has found. */
export interface Report {
  readonly machine: Machine
  readonly command: string
  readonly started_at: string
  readonly results: readonly Result[]
  readonly verdicts: readonly Verdict[]
}

/** The report for people: the marks, then every figure. */
export function renderReport({ machine, command, started_at, ...rest }: Report): string {
  const { cpus, memoryGiB, cpu, kernel, node, load } = machine
  return [
    `\`${command}\` at ${started_at} on ${cpus} cores (${cpu}), ${memoryGiB} GiB, ${kernel}, Node ${node}; ` +
      `load average before it ${plain(load)}.`,
    'Generator, service and servers share the cores. Medians, with the least and the most of the rounds in brackets.',
    '',
    ...renderVerdicts(rest.verdicts),
    ...renderResults(rest.results),
  ].join('\n')
}

function renderVerdicts(verdicts: readonly Verdict[]): readonly string[] {
  if (verdicts.length === 0) return []
  const rows = verdicts.map(({ mark, stack, measured, isMet }) => {
    const { bound } = mark
    const sign = 'atLeast' in bound ? `>= ${bound.atLeast}` : `<= ${bound.atMost}`
    return [mark.scenario, mark.title, stack, sign, plain(measured), isMet ? 'met' : 'not met']
  })
  return [...renderTable(['scenario', 'figure', 'stack', 'mark', 'measured', ''], rows), '']
}

function renderResults(results: readonly Result[]): readonly string[] {
  const columns = COLUMNS.filter(({ figure }) => results.some((each) => hasFigure(each, figure)))
  const cells = (side: Measured): readonly string[] => cellsOf(side, columns)
  const rows = results.flatMap(({ scenario, stack, outcome, reason }) => {
    if (outcome === undefined) return [[scenario, stack, `failed: ${inCell(reason)}`]]
    const { subject, baseline, ratio, cpu_ratio: cpuRatio } = outcome
    const ratios = [ratio, cpuRatio].map((each) => (each ? spread(each) : ''))
    const lines = [[scenario, stack, subject.name, ...ratios, ...cells(subject)]]
    if (baseline) lines.push([scenario, stack, baseline.name, '', '', ...cells(baseline)])
    return lines
  })
  const titles = columns.map(({ title }) => title)
  return renderTable(['scenario', 'stack', 'side', 'ratio', 'CPU ratio', ...titles], rows)
}

interface Column {
  readonly title: string
  readonly figure: FigureName
}

const COLUMNS: readonly Column[] = [
  { title: 'per second', figure: 'per_second' },
  { title: 'MiB/s', figure: 'mib_per_second' },
  { title: 'p50 ms', figure: 'p50_ms' },
  { title: 'p99 ms', figure: 'p99_ms' },
  { title: 'service CPU ms', figure: 'service_cpu_ms' },
  { title: 's/GiB', figure: 'service_cpu_s_per_gib' },
  { title: 'MinIO CPU ms', figure: 'object_store_cpu_ms' },
  { title: 's/GiB', figure: 'object_store_cpu_s_per_gib' },
  { title: 'PostgreSQL CPU ms', figure: 'database_cpu_ms' },
  { title: 'nginx CPU ms', figure: 'nginx_cpu_ms' },
  { title: 'peer CPU ms', figure: 'peer_cpu_ms' },
  { title: 'SHA-256 alone ms', figure: 'sha256_ms' },
  { title: 'S3 requests', figure: 'object_store_requests' },
  { title: 'syncs', figure: 'syncs' },
  { title: 'generator, of one core', figure: 'generator_cpu_share' },
  { title: 'peak RSS MiB', figure: 'peak_rss_mib' },
  { title: 'idle RSS MiB', figure: 'idle_rss_mib' },
  { title: 'start s', figure: 'start_s' },
]

function hasFigure({ outcome }: Result, figure: FigureName): boolean {
  return [outcome?.subject, outcome?.baseline].some((side) => side?.spreads[figure] !== undefined)
}

function cellsOf({ spreads }: Measured, columns: readonly Column[]): readonly string[] {
  return columns.map(({ figure }) => {
    const found = spreads[figure]
    return found === undefined ? '' : spread(found)
  })
}

function spread({ median, least, most }: Spread): string {
  return `${plain(median)} (${plain(least)}-${plain(most)})`
}

function inCell(text = ''): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')
}

/** Three digits that count. */
function plain(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)))
}

function renderTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const whole = (cells: readonly string[]): string[] => head.map((_, at) => cells[at] ?? '')
  return [line(head), line(head.map(() => '---')), ...rows.map((cells) => line(whole(cells)))]
}
