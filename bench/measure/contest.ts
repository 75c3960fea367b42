import { type Figures, type Spreads, spreadsOf } from './figures.ts'
import type { Contest, Side } from '../scenario.ts'
import { type Spread, spreadOf } from './statistics.ts'

/** What a scenario came to on a stack. */
export interface Outcome {
  readonly subject: Measured
  readonly baseline?: Measured
  /** Operations per second, subject to baseline, each round's by themselves. */
  readonly ratio?: Spread
}

export interface Measured {
  readonly name: string
  readonly spreads: Spreads
  readonly rounds: readonly Figures[]
}

export interface Rounds {
  readonly count: number
  /** Lets each side work once before it counts. */
  readonly warmsUp: boolean
  readonly onRound: (round: number) => void
}

/** Measures baseline and subject in turns, so that what else the machine does meets both alike. */
export async function hold(
  { baseline, subject }: Contest,
  { count, warmsUp, onRound }: Rounds,
): Promise<Outcome> {
  const sides = baseline ? [baseline, subject] : [subject]
  const series = sides.map((): Figures[] => [])
  for (let round = warmsUp ? 0 : 1; round <= count; round += 1) {
    onRound(round)
    for (const [at, side] of sides.entries()) {
      const figures = await side.measure(round)
      if (round > 0) series[at]?.push(figures)
    }
  }
  const own = series.at(-1) ?? []
  if (baseline === undefined) return { subject: measured(subject, own) }
  const other = series[0] ?? []
  const ratio = spreadOf(ratiosOf(own, other))
  return {
    subject: measured(subject, own),
    baseline: measured(baseline, other),
    ...(ratio && { ratio }),
  }
}

function ratiosOf(own: readonly Figures[], other: readonly Figures[]): number[] {
  return own.flatMap(({ per_second }, at) => {
    const beside = other[at]?.per_second
    return per_second === undefined || beside === undefined ? [] : [per_second / beside]
  })
}

function measured({ name }: Side, rounds: readonly Figures[]): Measured {
  return { name, rounds, spreads: spreadsOf(rounds) }
}
