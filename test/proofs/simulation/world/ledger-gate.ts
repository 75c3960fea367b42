import type { Ledger } from '../../../../src/database/ledger.ts'
import { outage } from '../../../support/faults/faults.ts'
import { DATABASE_TIMEOUT_MS, MAX_ZOMBIE_MS } from '../plan/parameters.ts'
import { type AppliedCall, type AskedCall, latency, type Seam } from './seam.ts'

/** The same ledger with a network and its faults before it: a call's effect and its answer are two events. */
export function gateLedger(ledger: Ledger, seam: Seam): Ledger {
  const methods = Object.entries(ledger) as [
    keyof Ledger,
    (argument: unknown) => Promise<unknown>,
  ][]
  const gated = methods.map(([method, run]) => {
    if (DIRECT.has(method)) return [method, run]
    const gate = (argument: unknown) => call(seam, { method, argument, work: () => run(argument) })
    return [method, gate]
  })
  return Object.fromEntries(gated) as Ledger
}

/** Without faults: no upload, append, download or sweep waits for these. */
const DIRECT: ReadonlySet<keyof Ledger> = new Set([
  'check',
  'findAccount',
  'listAccounts',
  'searchUsers',
  'reportCapacity',
  'reportDevices',
  'confirm',
  'endLeases',
  'listPendingUploads',
  'measureBacklog',
  'measureJournal',
] as const)

interface LedgerCall<R> {
  readonly method: keyof Ledger
  readonly argument: unknown
  readonly work: () => Promise<R>
}

type Settle = () => void

function call<R>(seam: Seam, { method, argument, work }: LedgerCall<R>): Promise<R> {
  const { timeline, random, faults, observer } = seam
  const actor = timeline.actor()
  observer.asked({ method, argument, actor } as AskedCall)
  const fault = faults.ledger(method)
  const name = `ledger ${method}${fault === undefined ? '' : ` (${fault})`}`

  function apply(after: number, then: (outcome: PromiseSettledResult<R>) => void): void {
    const run = async (): Promise<void> => {
      const [outcome] = await Promise.allSettled([work()])
      observer.applied({ method, argument, actor, outcome } as AppliedCall)
      then(outcome)
    }
    timeline.add({ after, label: `${name} applies`, isOutside: true, run })
  }

  function answer(after: number, run: Settle): void {
    timeline.add({ after, label: `${name} answers`, run })
  }

  const long = (): number => random.below(DATABASE_TIMEOUT_MS - 5000)
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(outage())
    const settle = (outcome: PromiseSettledResult<R>): void =>
      outcome.status === 'fulfilled' ? resolve(outcome.value) : reject(outcome.reason)
    switch (fault) {
      case undefined:
        return apply(latency(random), (outcome) => answer(latency(random), () => settle(outcome)))
      case 'refused':
        return answer(latency(random), fail)
      case 'answer lost':
        return apply(latency(random), () => answer(latency(random), fail))
      case 'late':
        answer(DATABASE_TIMEOUT_MS, fail)
        return apply(DATABASE_TIMEOUT_MS + random.below(MAX_ZOMBIE_MS), () => undefined)
      case 'slow':
        return apply(long(), (outcome) => answer(latency(random), () => settle(outcome)))
      case 'slow answer':
        return apply(latency(random), (outcome) => answer(long(), () => settle(outcome)))
    }
  })
}
