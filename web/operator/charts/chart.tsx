import { operatorWords } from '../words.ts'
import type { Point } from './series.ts'

const words = operatorWords.service

const WIDTH = 300
const HEIGHT = 64

export interface ChartProps {
  readonly title: string
  readonly points: readonly Point[]
  readonly format: (value: number) => string
  /** For screen readers, instead of the title and the highest value. */
  readonly label?: string
  /** Text below the chart, instead of the highest value. */
  readonly summary?: string
  /** Text beside the summary. */
  readonly note?: string | undefined
}

/** A line chart; screen readers get its last and highest values as text. */
export function Chart({ title, points, format, label, summary, note }: ChartProps) {
  const last = points.at(-1)
  const most = Math.max(0, ...points.map(({ value }) => value))
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        <strong>{last === undefined ? words.collecting : format(last.value)}</strong>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={last === undefined ? title : (label ?? words.chart(title, format(most)))}
      >
        <path class="chart-area" d={areaOf(points, most)} />
        <path class="chart-line" d={lineOf(points, most)} />
      </svg>
      <p class="quiet chart-note">
        <span>{last === undefined ? '\u00a0' : (summary ?? words.most(format(most)))}</span>
        {note !== undefined && <span>{note}</span>}
      </p>
    </figure>
  )
}

function lineOf(points: readonly Point[], most: number): string {
  return points
    .map((point, index) => `${index === 0 ? 'M' : 'L'}${placeOf(point, { points, most })}`)
    .join('')
}

function areaOf(points: readonly Point[], most: number): string {
  const [first] = points
  if (first === undefined) return ''
  const left = placeOf({ ...first, value: 0 }, { points, most })
  return `${lineOf(points, most)}L${WIDTH} ${HEIGHT}L${left}Z`
}

interface Field {
  readonly points: readonly Point[]
  readonly most: number
}

/** The latest point is at the right. The line never touches the upper edge. */
function placeOf({ at, value }: Point, { points, most }: Field): string {
  const [from = at, to = at] = [points[0]?.at, points.at(-1)?.at]
  const x = to === from ? WIDTH : ((at - from) / (to - from)) * WIDTH
  const y = HEIGHT - 1 - (most === 0 ? 0 : (value / most) * (HEIGHT - 6))
  return `${x.toFixed(1)} ${y.toFixed(1)}`
}
