import type { StackName } from '../setup/stack.ts'
import type { Outcome } from './contest.ts'
import type { Mark } from './marks.ts'
import type { Result } from './result.ts'

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
  if (figure === 'cpu_ratio') return outcome.cpu_ratio?.median
  const { subject, baseline } = outcome
  if (figure === 'cpu_of_put_and_sha256') return cpuOfPutAndSha256(outcome)
  if (figure === 'cpu_difference_s_per_gib') {
    const [own, other] = [subject, baseline].map((side) => side?.spreads.service_cpu_s_per_gib)
    return own && other && own.median - other.median
  }
  const spread = subject.spreads[figure]
  return figure === 'peak_rss_mib' ? spread?.most : spread?.median
}

function cpuOfPutAndSha256({ subject, baseline }: Outcome): number | undefined {
  const { service_cpu_ms: service, sha256_ms: digest } = subject.spreads
  const put = baseline?.spreads.object_store_cpu_ms
  if (!service || !digest || !put) return undefined
  return service.median / (put.median + digest.median)
}

function keeps(measured: number, bound: Mark['bound']): boolean {
  return 'atLeast' in bound ? measured >= bound.atLeast : measured <= bound.atMost
}
