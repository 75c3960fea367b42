import '../../shared/section.css'
import type { Overview } from '../../../packages/js/src/admin.ts'
import { formatBytes, formatCount } from '../../shared/format.ts'
import { operatorWords } from '../words.ts'
import { Chart } from '../charts/chart.tsx'
import type { Point } from '../charts/series.ts'

const words = operatorWords.overview

const CHARTS = [
  ['used', formatBytes],
  ['files', formatCount],
  ['users', formatCount],
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
          {CHARTS.map(([figure, format]) => {
            const points = pointsOf(overview, figure)
            const [from, to] = [points.at(0)?.value ?? 0, points.at(-1)?.value ?? 0]
            const size = format(Math.abs(to - from))
            return (
              <Chart
                key={figure}
                title={words[figure]}
                points={points}
                format={format}
                label={words.grew({ title: words[figure], from: format(from), to: format(to) })}
                summary={words.change(Math.sign(to - from), size)}
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
