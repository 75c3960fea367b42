import { expect, test } from 'vitest'
import type { Outcome } from '../../bench/measure/contest.ts'
import type { Mark } from '../../bench/measure/marks.ts'
import { renderReport } from '../../bench/measure/report.ts'
import type { Result } from '../../bench/measure/result.ts'
import { judge } from '../../bench/measure/verdicts.ts'

const at = (median: number) => ({ median, least: median / 2, most: median * 2 })

const OUTCOME: Outcome = {
  subject: {
    name: 'service',
    rounds: [],
    spreads: { per_second: at(600), p50_ms: at(1.5), peak_rss_mib: at(300) },
  },
  baseline: { name: 'MinIO', rounds: [], spreads: { per_second: at(1000) } },
  ratio: at(0.6),
  cpu_ratio: at(2),
}

const RESULT: Result = { scenario: 's', title: 'S', stack: 'sqlite-minio', outcome: OUTCOME }

const MARK: Mark = {
  title: 'uploads / PUTs',
  scenario: 's',
  stacks: ['sqlite-minio', 'postgres-minio'],
  figure: 'ratio',
  bound: { atLeast: 0.6 },
}

test('a mark is met at its bound and not beyond it', () => {
  const isMet = (mark: Partial<Mark>): readonly boolean[] =>
    judge([{ ...MARK, ...mark }], [RESULT]).map((verdict) => verdict.isMet)
  expect(isMet({})).toEqual([true])
  expect(isMet({ bound: { atLeast: 0.61 } })).toEqual([false])
  expect(isMet({ bound: { atMost: 0.6 } })).toEqual([true])
  expect(isMet({ bound: { atMost: 0.59 } })).toEqual([false])
})

test('the time of an operation is judged by the ratio turned over', () => {
  const mark = { ...MARK, figure: 'wall_ratio', bound: { atMost: 1.6 } } as const
  expect(judge([mark], [RESULT])[0]).toMatchObject({ measured: 1 / 0.6, isMet: false })
})

test('CPU is judged by its ratio, or by what it takes beyond the other side', () => {
  const cpu = (median: number) => ({ service_cpu_s_per_gib: at(median) })
  const outcome: Outcome = {
    subject: { name: 'two', rounds: [], spreads: cpu(4) },
    baseline: { name: 'one', rounds: [], spreads: cpu(3) },
    cpu_ratio: at(1.3),
  }
  const measured = (figure: Mark['figure']) =>
    judge([{ ...MARK, figure }], [{ ...RESULT, outcome }])[0]?.measured
  expect(measured('cpu_ratio')).toBe(1.3)
  expect(measured('cpu_difference_s_per_gib')).toBe(1)
})

test('the CPU of an upload is judged by that of a PUT and a SHA-256', () => {
  const outcome: Outcome = {
    subject: {
      name: 'service',
      rounds: [],
      spreads: { service_cpu_ms: at(3), sha256_ms: at(1) },
    },
    baseline: { name: 'MinIO', rounds: [], spreads: { object_store_cpu_ms: at(4) } },
  }
  const mark = { ...MARK, figure: 'cpu_of_put_and_sha256' } as const
  expect(judge([mark], [{ ...RESULT, outcome }])[0]?.measured).toBe(3 / (4 + 1))
  expect(judge([mark], [RESULT])).toEqual([])
})

test('of peaks the highest is judged', () => {
  const mark = { ...MARK, figure: 'peak_rss_mib', bound: { atMost: 400 } } as const
  expect(judge([mark], [RESULT])[0]).toMatchObject({ measured: 600, isMet: false })
})

test('a scenario that failed or was not measured is not judged', () => {
  expect(
    judge([MARK], [{ scenario: 's', title: 'S', stack: 'sqlite-minio', reason: 'x' }]),
  ).toEqual([])
  expect(judge([MARK], [])).toEqual([])
})

test('the report is a table of the marks and one of all figures', () => {
  const failed: Result = { ...RESULT, stack: 'postgres-minio', reason: 'no disk |\nat all' }
  const { outcome: _, ...withoutOutcome } = failed
  const text = renderReport({
    machine: { cpus: 2, cpu: 'X', memoryGiB: 8, kernel: 'Linux 6', node: 'v24.0.0', load: 0.5 },
    command: 'npm run bench',
    started_at: '2026-11-21T00:00:00.000Z',
    results: [RESULT, withoutOutcome],
    verdicts: judge([MARK], [RESULT]),
  })
  const lines = text.split('\n')
  expect(lines[0]).toContain('2 cores')
  expect(lines[0]).toContain('load average before it 0.5.')
  expect(lines).toContain('| s | uploads / PUTs | sqlite-minio | >= 0.6 | 0.6 | met |')
  const row = lines.find((line) => line.startsWith('| s | sqlite-minio | service |'))
  expect(row).toContain('| 0.6 (0.3-1.2) | 2 (1-4) | 600 (300-1200) |')
  const other = lines.find((line) => line.startsWith('| s | sqlite-minio | MinIO |'))
  expect(other).toContain('| 1000 (500-2000) |')
  expect(text).toContain('| s | postgres-minio | failed: no disk \\| at all |')
  const columns = new Set(
    lines
      .slice(lines.lastIndexOf(''))
      .filter((line) => line.startsWith('| s |'))
      .map((line) => line.replaceAll('\\|', '').split('|').length),
  )
  expect(columns.size).toBe(1)
})
