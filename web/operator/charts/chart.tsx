import { operatorWords } from '../words.ts'
import { type Scale, ticksOf } from './scale.ts'
import type { Point } from './series.ts'
import type { TimeAxis } from './time-axis.ts'

const words = operatorWords.service

const WIDTH = 300
const HEIGHT = 100

export interface ChartProps {
  readonly title: string
  readonly points: readonly Point[]
  readonly scale: Scale
  readonly timeAxis: TimeAxis
  /** Of the vertical axis; 1 if it is low. */
  readonly steps: 1 | 2
  /** For screen readers, instead of the title and the highest value. */
  readonly label?: string
  /** Text below the chart. */
  readonly note?: string | undefined
}

/** A line chart with axes; screen readers get its last and highest values as text. */
export function Chart({ title, points, scale, timeAxis, steps, label, note }: ChartProps) {
  const last = points.at(-1)
  const most = Math.max(0, ...points.map(({ value }) => value))
  const ticks = ticksOf(most, scale, steps)
  const [top = 0] = ticks
  const times = last === undefined ? [] : timeAxis(points[0]?.at ?? last.at, last.at)
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        <strong>{last === undefined ? words.collecting : scale.format(last.value)}</strong>
      </figcaption>
      <div class="plot">
        <div class="values" aria-hidden="true">
          {ticks.map((tick) => (
            <span key={tick}>{tick === 0 ? tick : scale.format(tick)}</span>
          ))}
        </div>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={
            last === undefined ? title : (label ?? words.chart(title, scale.format(most)))
          }
        >
          <path class="chart-area" d={areaOf(points, top)} />
          <path class="chart-grid" d={gridOf(ticks)} />
          <path class="chart-line" d={lineOf(points, top)} />
        </svg>
        <div class="times" aria-hidden="true">
          {times.map((time) => (
            <span key={time}>{time}</span>
          ))}
        </div>
      </div>
      {note !== undefined && <p class="quiet">{note}</p>}
    </figure>
  )
}

function gridOf(ticks: readonly number[]): string {
  const [top = 0] = ticks
  return ticks.map((tick) => `M0 ${heightOf(tick, top)}H${WIDTH}`).join('')
}

function lineOf(points: readonly Point[], top: number): string {
  return points
    .map((point, index) => `${index === 0 ? 'M' : 'L'}${placeOf(point, points, top)}`)
    .join('')
}

function areaOf(points: readonly Point[], top: number): string {
  const [first] = points
  if (first === undefined) return ''
  const left = placeOf({ ...first, value: 0 }, points, top)
  return `${lineOf(points, top)}L${WIDTH} ${HEIGHT}L${left}Z`
}

/** The latest point is at the right. */
function placeOf({ at, value }: Point, points: readonly Point[], top: number): string {
  const [from = at, to = at] = [points[0]?.at, points.at(-1)?.at]
  const x = to === from ? WIDTH : ((at - from) / (to - from)) * WIDTH
  return `${x.toFixed(1)} ${heightOf(value, top)}`
}

/** From above, as SVG counts. */
function heightOf(value: number, top: number): string {
  return (HEIGHT - (top === 0 ? 0 : (value / top) * HEIGHT)).toFixed(1)
}
