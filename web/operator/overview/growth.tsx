import '../../shared/section.css'
import type { Overview } from '../../../packages/js/src/admin.ts'
import { operatorWords } from '../words.ts'
import { Chart } from '../charts/chart.tsx'
import { BYTES, COUNTS } from '../charts/scale.ts'
import type { Point } from '../charts/series.ts'
import { dayAxis } from '../charts/time-axis.ts'

const words = operatorWords.overview

const CHARTS = [
  ['used', BYTES],
  ['files', COUNTS],
  ['users', COUNTS],
] as const

type Figure = (typeof CHARTS)[number][0]

/** Charts of the last 30 days, from the figures of the beginning of each day and those of now. */
export function Growth({ overview }: { readonly overview: Overview }) {
  return (
    <section class="section" aria-labelledby="growth">
      <header class="section-head">
        <h3 id="growth">{words.growth}</h3>
      </header>
      {overview.growth.length === 0 ? (
        <p class="quiet">{words.noGrowth}</p>
      ) : (
        <div class="growth">
          {CHARTS.map(([figure, scale]) => {
            const { format } = scale
            const points = pointsOf(overview, figure)
            const [from, to] = [points.at(0)?.value ?? 0, points.at(-1)?.value ?? 0]
            const size = format(Math.abs(to - from))
            return (
              <Chart
                key={figure}
                title={words[figure]}
                points={points}
                scale={scale}
                timeAxis={dayAxis}
                steps={2}
                label={words.grew({ title: words[figure], from: format(from), to: format(to) })}
                note={words.change(Math.sign(to - from), size)}
              />
            )
          })}
        </div>
      )}
    </section>
  )
}

function pointsOf({ growth, users, files, used, taken_at: now }: Overview, figure: Figure) {
  const current = { users: users.active + users.suspended, files, used }
  const days = growth.map((day): Point => ({ at: Date.parse(day.date), value: day[figure] }))
  return [...days, { at: Date.parse(now), value: current[figure] }]
}
