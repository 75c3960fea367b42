import type { Result } from './result.ts'
import type { FigureName } from './figures.ts'
import type { StackName } from '../setup/stack.ts'

/** A bound that a figure should keep. */
export interface Mark {
  readonly title: string
  readonly scenario: string
  readonly stacks: readonly StackName[]
  readonly figure: FigureName | 'ratio' | 'wall_ratio'
  readonly bound: { readonly atLeast: number } | { readonly atMost: number }
}

const BEHIND_MINIO: readonly StackName[] = ['sqlite-minio', 'postgres-minio']

/** What the service has promised itself. */
export const MARKS: readonly Mark[] = [
  ...smallFileMarks(),
  ...largeFileMarks(),
  ...memoryMarks(),
  {
    title: 'embedded: start to ready, s',
    scenario: 'start',
    stacks: ['sqlite-files'],
    figure: 'start_s',
    bound: { atMost: 1 },
  },
  ...['upload', 'download'].map((work): Mark => ({
    title: `4 KiB ${work}, 1,000,000 files in the account / 100, time`,
    scenario: `many-files-${work}`,
    stacks: BEHIND_MINIO,
    figure: 'wall_ratio',
    bound: { atMost: 1.2 },
  })),
  {
    title: '4 KiB form uploads per second, 8 busy users / 1',
    scenario: 'users-8',
    stacks: ['postgres-minio'],
    figure: 'ratio',
    bound: { atLeast: 1 },
  },
  {
    title: '1 MiB download of local files / nginx, time',
    scenario: 'nginx-1m',
    stacks: ['sqlite-files'],
    figure: 'wall_ratio',
    bound: { atMost: 2 },
  },
]

function smallFileMarks(): readonly Mark[] {
  const upload = {
    title: '4 KiB form upload / MinIO direct PUT',
    scenario: 'upload-form-4k',
    figure: 'ratio',
  } as const
  const download = { scenario: 'download-4k', stacks: BEHIND_MINIO } as const
  return [
    { ...upload, stacks: ['sqlite-minio'], bound: { atLeast: 0.6 } },
    { ...upload, stacks: ['postgres-minio'], bound: { atLeast: 0.5 } },
    {
      ...download,
      title: '4 KiB download / MinIO direct GET',
      figure: 'ratio',
      bound: { atLeast: 0.4 },
    },
    {
      ...download,
      title: '4 KiB download, service CPU in ms',
      figure: 'service_cpu_ms',
      bound: { atMost: 0.3 },
    },
  ]
}

function largeFileMarks(): readonly Mark[] {
  const bounds = [
    { scenario: 'upload-form-1g', work: '1 GiB form upload', wall: 1.3, cpu: 3 },
    { scenario: 'upload-raw-1g', work: '1 GiB raw upload', wall: 1.1, cpu: 2.2 },
    { scenario: 'download-1g', work: '1 GiB download', wall: 1.6, cpu: 1.3 },
  ]
  return bounds.flatMap(({ scenario, work, wall, cpu }): Mark[] => [
    {
      title: `${work} / MinIO direct, time`,
      scenario,
      stacks: BEHIND_MINIO,
      figure: 'wall_ratio',
      bound: { atMost: wall },
    },
    {
      title: `${work}, service CPU in s`,
      scenario,
      stacks: BEHIND_MINIO,
      figure: 'service_cpu_s_per_gib',
      bound: { atMost: cpu },
    },
  ])
}

function memoryMarks(): readonly Mark[] {
  const peak = { stacks: BEHIND_MINIO, figure: 'peak_rss_mib' } as const
  return [
    {
      ...peak,
      title: '64 parallel 64 MiB uploads, peak RSS in MiB',
      scenario: 'upload-64x64m',
      bound: { atMost: 400 },
    },
    {
      ...peak,
      title: 'one 10 GiB upload, peak RSS in MiB',
      scenario: 'upload-10g',
      bound: { atMost: 250 },
    },
    {
      title: 'embedded: idle RSS in MiB',
      scenario: 'start',
      stacks: ['sqlite-files'],
      figure: 'idle_rss_mib',
      bound: { atMost: 110 },
    },
  ]
}

/** A mark with what was measured on one stack. */
export interface Verdict {
  readonly mark: Mark
  readonly stack: StackName
  readonly measured: number
  readonly isMet: boolean
}

/** Judges medians, of peaks the highest; a mark of which nothing was measured is left out. */
export function judge(marks: readonly Mark[], results: readonly Result[]): readonly Verdict[] {
  return marks.flatMap((mark) =>
    mark.stacks.flatMap((stack) => {
      const result = results.find((each) => each.scenario === mark.scenario && each.stack === stack)
      const measured = result && measuredOf(result, mark.figure)
      if (measured === undefined) return []
      return [{ mark, stack, measured, isMet: keeps(measured, mark.bound) }]
    }),
  )
}

function measuredOf({ outcome }: Result, figure: Mark['figure']): number | undefined {
  if (outcome === undefined) return undefined
  const ratio = outcome.ratio?.median
  if (figure === 'ratio') return ratio
  if (figure === 'wall_ratio') return ratio === undefined ? undefined : 1 / ratio
  const spread = outcome.subject.spreads[figure]
  return figure === 'peak_rss_mib' ? spread?.most : spread?.median
}

function keeps(measured: number, bound: Mark['bound']): boolean {
  return 'atLeast' in bound ? measured >= bound.atLeast : measured <= bound.atMost
}
