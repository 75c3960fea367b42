import { useEffect } from 'preact/hooks'
import type { Overview } from '../../../packages/js/src/admin.ts'
import { formatBytes, formatCount } from '../../shared/format.ts'
import { ProblemNotice } from '../../shared/problem-notice.tsx'
import { messages } from '../../messages.ts'
import { operatorWords } from '../words.ts'
import type { ServiceWatch } from '../charts/service-watch.ts'
import type { Page } from '../page.ts'
import { Growth } from './growth.tsx'
import { InstanceFacts } from './instance-facts.tsx'
import { ParkedWebhooks } from './parked-webhooks.tsx'
import { RankedUsers } from './ranked-users.tsx'

const words = operatorWords.overview

const INTERVAL_MS = 15_000

/** The figures of all users on all instances. */
export function OverviewView({ page }: { readonly page: Page }) {
  const { value, problem } = page.overview
  const overview = value.value
  const moment = page.watch.samples.value.at(-1)?.at ?? 0
  useEffect(() => void page.overview.refresh(), [Math.floor(moment / INTERVAL_MS)])
  return (
    <main class="list card" aria-busy={overview === undefined}>
      <div class="list-rows record">
        <h2>{words.title}</h2>
        <ProblemNotice text={problem.value} />
        <ProblemNotice text={leadOf(page.watch)} />
        <ParkedWebhooks page={page} />
        {overview === undefined ? (
          <p class="quiet">{messages.files.loading}</p>
        ) : (
          <>
            <InstanceFacts overview={overview} />
            <Figures overview={overview} />
            <Growth overview={overview} />
            <div class="rankings">
              <RankedUsers title={words.fullest} users={overview.fullest} />
              <RankedUsers title={words.largest} users={overview.largest} />
            </div>
          </>
        )}
      </div>
    </main>
  )
}

/** Smaller leads are corrections of the clock. */
const LEAST_LEAD_SECONDS = 5

function leadOf({ samples }: ServiceWatch): string | undefined {
  const { clockLeadSeconds: lead = 0 } = samples.value.at(-1) ?? {}
  return lead < LEAST_LEAD_SECONDS ? undefined : words.clockAhead(lead)
}

type Figure = readonly [label: string, value: string, note?: string | undefined]

function Figures({ overview }: { readonly overview: Overview }) {
  const { users, files, used, reserved, garbage, history, webhooks } = overview
  const figures: readonly Figure[] = [
    [words.users, formatCount(users.active + users.suspended), words.others(users)],
    [words.files, formatCount(files)],
    [words.used, formatBytes(used)],
    [words.reserved, formatBytes(reserved)],
    [words.garbage, formatBytes(garbage)],
    [words.history, formatBytes(history.used), words.versions(history.count)],
    ...(webhooks === null
      ? []
      : [[words.webhooks, formatCount(webhooks.waiting), words.parked(webhooks.parked)] as const]),
  ]
  return (
    <dl class="figures">
      {figures.map(([label, value, note = '']) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
          {note !== '' && <dd class="quiet">{note}</dd>}
        </div>
      ))}
    </dl>
  )
}
