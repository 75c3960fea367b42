import type { FigureName } from './figures.ts'
import type { StackName } from '../setup/stack.ts'

/**
 * `ratio` is of operations per second, `wall_ratio` of the time of one; `cpu_ratio` and `cpu_difference_s_per_gib` are
 * of the service's CPU. `cpu_of_put_and_sha256` compares it with the CPU of a direct PUT and a SHA-256 together.
 */
type ComparedFigure =
  | 'ratio'
  | 'wall_ratio'
  | 'cpu_ratio'
  | 'cpu_difference_s_per_gib'
  | 'cpu_of_put_and_sha256'

/** A bound that a figure should keep. */
export interface Mark {
  readonly title: string
  readonly scenario: string
  readonly stacks: readonly StackName[]
  readonly figure: FigureName | ComparedFigure
  readonly bound: { readonly atLeast: number } | { readonly atMost: number }
}

const BEHIND_MINIO: readonly StackName[] = ['sqlite-minio', 'postgres-minio']

/** What the service has promised itself. */
export const MARKS: readonly Mark[] = [
  ...smallFileMarks(),
  ...photoMarks(),
  ...peerMarks(),
  ...largeFileMarks(),
  ...memoryMarks(),
  ...resumableMarks(),
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
    { ...upload, stacks: ['sqlite-minio'], bound: { atLeast: 0.7 } },
    { ...upload, stacks: ['postgres-minio'], bound: { atLeast: 0.55 } },
    {
      ...upload,
      title: 'embedded: 4 KiB form upload, service CPU in ms',
      stacks: ['sqlite-files'],
      figure: 'service_cpu_ms',
      bound: { atMost: 0.45 },
    },
    {
      ...download,
      title: '4 KiB download / MinIO direct GET',
      figure: 'ratio',
      bound: { atLeast: 0.5 },
    },
    {
      ...download,
      title: '4 KiB download, service CPU in ms',
      figure: 'service_cpu_ms',
      bound: { atMost: 0.35 },
    },
    {
      ...download,
      title: 'embedded: 4 KiB download, service CPU in ms',
      stacks: ['sqlite-files'],
      figure: 'service_cpu_ms',
      bound: { atMost: 0.18 },
    },
  ]
}

function photoMarks(): readonly Mark[] {
  const photo = { scenario: 'upload-form-1m', stacks: BEHIND_MINIO } as const
  return [
    {
      ...photo,
      title: '1 MiB form upload / MinIO direct PUT',
      figure: 'ratio',
      bound: { atLeast: 0.55 },
    },
    {
      ...photo,
      title: '1 MiB form upload, service CPU / direct PUT and SHA-256',
      figure: 'cpu_of_put_and_sha256',
      bound: { atMost: 1.3 },
    },
  ]
}

function peerMarks(): readonly Mark[] {
  const embedded = { stacks: ['sqlite-files'], figure: 'ratio' } as const
  return [
    {
      ...embedded,
      title: 'embedded: 4 KiB form uploads per second / PocketBase, both with a token',
      scenario: 'pocketbase-upload-4k',
      bound: { atLeast: 1 },
    },
    {
      ...embedded,
      title: 'embedded: 4 KiB form uploads per second, with a token / PocketBase, without',
      scenario: 'pocketbase-open-upload-4k',
      bound: { atLeast: 0.8 },
    },
    {
      ...embedded,
      title: 'embedded: 4 KiB downloads per second, with a token / PocketBase, without',
      scenario: 'pocketbase-download-4k',
      bound: { atLeast: 0.9 },
    },
    {
      ...embedded,
      title: 'embedded: 4 KiB public downloads per second / PocketBase, both without a token',
      scenario: 'pocketbase-public-download-4k',
      bound: { atLeast: 0.9 },
    },
  ]
}

function largeFileMarks(): readonly Mark[] {
  const bounds = [
    { scenario: 'upload-form-1g', work: '1 GiB form upload', wall: 1.2, cpu: 2.8 },
    { scenario: 'upload-raw-1g', work: '1 GiB raw upload', wall: 1.1, cpu: 2.2 },
    { scenario: 'download-1g', work: '1 GiB download', wall: 1.6, cpu: 1.3 },
  ]
  const toFiles: Mark = {
    title: 'embedded: 1 GiB form upload, service CPU in s',
    scenario: 'upload-form-1g',
    stacks: ['sqlite-files'],
    figure: 'service_cpu_s_per_gib',
    bound: { atMost: 4 },
  }
  const behindMinio = bounds.flatMap(({ scenario, work, wall, cpu }): Mark[] => [
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
  return [...behindMinio, toFiles]
}

function resumableMarks(): readonly Mark[] {
  const compared = [
    { scenario: 'append-1g', work: '1 GiB in one append / raw PUT', wall: 1.05, cpu: 1.1 },
    { scenario: 'append-50m', work: '1 GiB in appends of 50 MiB / raw PUT', wall: 1.5, cpu: 1.25 },
    { scenario: 'append-8m', work: '1 GiB in appends of 8 MiB / raw PUT', wall: 3, cpu: 1.6 },
    { scenario: 'append-10000', work: '10,000th append of 1 KiB / 10th', wall: 1.2, cpu: 1.2 },
    { scenario: 'upload-tus-4k', work: '4 KiB, creation and append / form upload', cpu: 2 },
    { scenario: 'unfinished-100', work: '4 KiB form, 100 unfinished uploads / none', wall: 1.05 },
  ].flatMap(({ scenario, work, wall, cpu }) => [
    boundOf({ title: `${work}, time`, scenario, figure: 'wall_ratio' }, wall),
    boundOf({ title: `${work}, CPU`, scenario, figure: 'cpu_ratio' }, cpu),
  ])
  const small = { scenario: 'append-1k' } as const
  return [
    ...compared.flat(),
    {
      title: '1 GiB to two instances in turn, CPU in s beyond one',
      scenario: 'append-2-instances',
      stacks: ['postgres-minio'],
      figure: 'cpu_difference_s_per_gib',
      bound: { atMost: 1.3 },
    },
    ...boundOf({ ...small, title: 'append of 1 KiB, p50 in ms', figure: 'p50_ms' }, 10),
    ...boundOf({ ...small, title: 'append of 1 KiB, CPU in ms', figure: 'service_cpu_ms' }, 3),
    ...boundOf(
      { ...small, title: 'append of 1 KiB, S3 requests', figure: 'object_store_requests' },
      2.1,
    ),
    ...boundOf(
      {
        title: '64 parallel appends of 64 MiB, peak RSS in MiB',
        scenario: 'append-64x64m',
        figure: 'peak_rss_mib',
      },
      400,
    ),
  ]
}

function boundOf(
  mark: Omit<Mark, 'stacks' | 'bound'>,
  atMost: number | undefined,
): readonly Mark[] {
  return atMost === undefined ? [] : [{ ...mark, stacks: BEHIND_MINIO, bound: { atMost } }]
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
