import { Icon } from '../../shared/icon.tsx'
import { operatorWords } from '../words.ts'
import { Chart } from './chart.tsx'
import type { Sample } from './metrics-text.ts'
import { BYTES, BYTES_PER_SECOND, COUNTS } from './scale.ts'
import { growth, growths, levels, rates } from './series.ts'
import { agoAxis } from './time-axis.ts'
import { type Health, type Part, PARTS, type ServiceWatch } from './service-watch.ts'

const words = operatorWords.service

const SECOND_MS = 1_000
const MINUTE_MS = 60_000

/** Health of the service, and charts of at most the last 15 minutes. */
export function ServicePanel({ watch }: { readonly watch: ServiceWatch }) {
  const samples = watch.samples.value
  return (
    // Low windows scroll it, also by the keyboard.
    <aside class="service card" aria-label={words.title} tabIndex={0}>
      <h2>{words.title}</h2>
      <HealthOfParts health={watch.health.value} />
      <h3>{words.thisInstance}</h3>
      <Chart
        title={words.received}
        points={rates(samples, { read: (sample) => sample.receivedBytes, per: SECOND_MS })}
        scale={BYTES_PER_SECOND}
        timeAxis={agoAxis}
        steps={1}
      />
      <Chart
        title={words.sent}
        points={rates(samples, { read: (sample) => sample.sentBytes, per: SECOND_MS })}
        scale={BYTES_PER_SECOND}
        timeAxis={agoAxis}
        steps={1}
      />
      <Chart
        title={words.uploads}
        points={growths(samples, { read: (sample) => sample.uploads, within: MINUTE_MS })}
        scale={COUNTS}
        timeAxis={agoAxis}
        steps={1}
        note={words.uploaded({
          running: samples.at(-1)?.uploadsRunning ?? 0,
          bytes: growth(samples, (sample) => sample.uploadedBytes),
        })}
      />
      <Chart
        title={words.refusals}
        points={growths(samples, { read: (sample) => sample.refusals, within: MINUTE_MS })}
        scale={COUNTS}
        timeAxis={agoAxis}
        steps={1}
        note={mostRefused(samples)}
      />
      <h3>{words.allInstances}</h3>
      <Chart
        title={words.running}
        points={levels(samples, ({ everywhere }) => everywhere?.uploads)}
        scale={COUNTS}
        timeAxis={agoAxis}
        steps={1}
      />
      <Chart
        title={words.expected}
        points={levels(samples, ({ everywhere }) => everywhere?.bytes)}
        scale={BYTES}
        timeAxis={agoAxis}
        steps={1}
      />
      <Chart
        title={words.garbage}
        points={levels(samples, ({ everywhere }) => everywhere?.garbage)}
        scale={COUNTS}
        timeAxis={agoAxis}
        steps={1}
      />
    </aside>
  )
}

function HealthOfParts({ health }: { readonly health: Health }) {
  return (
    <div role="status">
      {' '}
      <ul class="parts" aria-label={words.health}>
        {PARTS.map((part) => {
          const state = stateOf(part, health)
          return (
            <li key={part} class={`part part-${state}`}>
              <Icon name={state === 'ok' ? 'check' : 'warning'} />
              <span>{words.parts[part]}</span>
              <strong>{words.states[state]}</strong>
            </li>
          )
        })}
      </ul>
    </div>
  )
}

function stateOf(part: Part, health: Health): keyof typeof words.states {
  if (health.kind === 'ready') return 'ok'
  if (health.kind === 'stopping') return 'stopping'
  if (health.kind !== 'failing') return 'unknown'
  return health.parts.has(part) ? 'failing' : 'ok'
}

/** The most frequent refusal code of that time. */
function mostRefused(samples: readonly Sample[]): string | undefined {
  const codes = new Set(samples.flatMap(({ refusalsByCode }) => [...refusalsByCode.keys()]))
  const counts = [...codes].map((code) => ({
    code,
    count: growth(samples, ({ refusalsByCode }) => refusalsByCode.get(code) ?? 0),
  }))
  const [first] = counts.sort((a, b) => b.count - a.count)
  return first === undefined || first.count === 0 ? undefined : words.refused(first)
}
