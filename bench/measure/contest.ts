import { type Figures, type Spreads, spreadsOf } from './figures.ts'
import type { Contest, Side } from '../scenario.ts'
import { type Spread, spreadOf } from './statistics.ts'

/** What a scenario came to on a stack. */
export interface Outcome {
  readonly subject: Measured
  readonly baseline?: Measured
  /** Operations per second, subject to baseline, each round's by themselves. */
  readonly ratio?: Spread
  /** The service's CPU per operation, likewise, if both sides are the service. */
  readonly cpu_ratio?: Spread
}

export interface Measured {
  readonly name: string
  readonly spreads: Spreads
  readonly rounds: readonly Figures[]
}

export interface Rounds {
  readonly count: number
  /**
   * How long the subject warms up, in ms, so that V8 has compiled the service's code. The baseline warms up for as long
   * only if `comparesCpu`, otherwise for one run. If omitted, neither side warms up.
   */
  readonly warmUpMs?: number | undefined
  readonly onRound: (round: number) => void
}

/** Measures baseline and subject in turns, so that what else the machine does meets both alike. */
export async function hold(
  { baseline, subject, comparesCpu = false }: Contest,
  { count, warmUpMs, onRound }: Rounds,
): Promise<Outcome> {
  const sides = baseline ? [baseline, subject] : [subject]
  const series = sides.map((): Figures[] => [])
  if (warmUpMs !== undefined) {
    onRound(0)
    if (baseline) await warmUp(baseline, comparesCpu ? warmUpMs : 0)
    await warmUp(subject, warmUpMs)
  }
  for (let round = 1; round <= count; round += 1) {
    onRound(round)
    for (const [at, side] of sides.entries()) series[at]?.push(await side.measure(round))
  }
  const own = measured(subject.name, series.at(-1) ?? [])
  if (baseline === undefined) return { subject: own }
  return compare(own, measured(baseline.name, series[0] ?? []), comparesCpu)
}

/** As `hold`, but opens both sides anew for each round, so that what earlier rounds have stored slows neither. */
export async function holdAnew(
  open: (opened: AsyncDisposableStack) => Promise<Contest>,
  { count, warmUpMs, onRound }: Rounds,
): Promise<Outcome> {
  const outcomes: Outcome[] = []
  let comparesCpu = false
  for (let round = 1; round <= count; round += 1) {
    await using opened = new AsyncDisposableStack()
    const contest = await open(opened)
    comparesCpu = contest.comparesCpu ?? false
    outcomes.push(
      await hold(contest, { count: 1, warmUpMs, onRound: (at) => onRound(at && round) }),
    )
  }
  const own = joined(outcomes.map(({ subject }) => subject))
  const others = outcomes.flatMap(({ baseline }) => baseline ?? [])
  return others.length === 0 ? { subject: own } : compare(own, joined(others), comparesCpu)
}

function joined(parts: readonly Measured[]): Measured {
  const rounds = parts.flatMap((part) => part.rounds)
  return measured(parts[0]?.name ?? '', rounds)
}

function compare(subject: Measured, baseline: Measured, comparesCpu: boolean): Outcome {
  const ratio = spreadOf(ratiosOf('per_second', subject.rounds, baseline.rounds))
  const cpuRatio = comparesCpu
    ? spreadOf(ratiosOf('service_cpu_ms', subject.rounds, baseline.rounds))
    : undefined
  return { subject, baseline, ...(ratio && { ratio }), ...(cpuRatio && { cpu_ratio: cpuRatio }) }
}

/** At least once, and then until the time has passed. */
async function warmUp(side: Side, ms: number): Promise<void> {
  const started = performance.now()
  let round = 0
  do {
    await side.measure(round)
    round -= 1
  } while (performance.now() - started < ms)
}

function ratiosOf(
  name: 'per_second' | 'service_cpu_ms',
  own: readonly Figures[],
  other: readonly Figures[],
): number[] {
  return own.flatMap(({ [name]: figure }, at) => {
    const beside = other[at]?.[name]
    return figure === undefined || beside === undefined ? [] : [figure / beside]
  })
}

function measured(name: string, rounds: readonly Figures[]): Measured {
  return { name, rounds, spreads: spreadsOf(rounds) }
}
