import type { Result } from './result.ts'
import type { FigureName } from './figures.ts'
import type { StackName } from './stack.ts'

/** A bound that a figure should keep. */
export interface Mark {
  readonly title: string
  readonly scenario: string
  readonly stacks: readonly StackName[]
  readonly figure: FigureName | 'ratio' | 'wall_ratio'
  readonly bound: { readonly atLeast: number } | { readonly atMost: number }
}

const BEHIND_MINIO: readonly StackName[] = ['sqlite-minio', 'postgres-minio']

/** Of the service with MinIO behind it, each on the same machine in the same run, if it says nothing else. */
export const MARKS: readonly Mark[] = [
  {
    title: '4 KiB form upload / MinIO direct PUT',
    scenario: 'upload-form-4k',
    stacks: ['sqlite-minio'],
    figure: 'ratio',
    bound: { atLeast: 0.6 },
  },
  {
    title: '4 KiB form upload / MinIO direct PUT',
    scenario: 'upload-form-4k',
    stacks: ['postgres-minio'],
    figure: 'ratio',
    bound: { atLeast: 0.5 },
  },
  {
    title: '4 KiB download / MinIO direct GET',
    scenario: 'download-4k',
    stacks: BEHIND_MINIO,
    figure: 'ratio',
    bound: { atLeast: 0.4 },
  },
  {
    title: '4 KiB download, service CPU in ms',
    scenario: 'download-4k',
    stacks: BEHIND_MINIO,
    figure: 'service_cpu_ms',
    bound: { atMost: 0.3 },
  },
]

/** A mark with what was measured on one stack. */
export interface Verdict {
  readonly mark: Mark
  readonly stack: StackName
  readonly measured: number
  readonly isMet: boolean
}

/** Judges medians; a mark of which nothing was measured is left out. */
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
  return outcome.subject.spreads[figure]?.median
}

function keeps(measured: number, bound: Mark['bound']): boolean {
  return 'atLeast' in bound ? measured >= bound.atLeast : measured <= bound.atMost
}
