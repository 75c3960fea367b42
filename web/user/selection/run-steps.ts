import { problemOf } from '../../shared/connection.ts'
import { failureOf } from '../../shared/error-message.ts'
import { Refusal } from '../../shared/refusal.ts'
import { messages } from '../../messages.ts'
import type { Page } from '../user-page.ts'
import { type Done, MAX_OPERATIONS, type Outcome, runBatches, type Step } from './batches.ts'

const words = messages.selection
const { whys } = words

/** What changes of many files need. */
export type ManyPage = Pick<
  Page,
  'client' | 'list' | 'folders' | 'capacity' | 'permissions' | 'toasts' | 'selection' | 'removal'
>

export interface Run {
  readonly steps: readonly Step[]
  readonly skipsRefused: boolean
  /** Shows in the list what a batch has done. */
  readonly apply: (done: readonly Done[]) => void
}

/** Runs the steps, says how far it is if that takes several batches, and what was refused of what may be. */
export async function runSteps(
  page: ManyPage,
  { steps, skipsRefused, apply }: Run,
): Promise<Outcome> {
  const { client, toasts } = page
  const cancelled = new AbortController()
  const all = steps.reduce((count, { files }) => count + files.length, 0)
  let count = 0
  let end = (): void => undefined

  function showProgress(): void {
    if (cancelled.signal.aborted) return
    const text = words.progress(count, all)
    const cancel = (): void => cancelled.abort(new Refusal(whys.cancelled))
    const action = { label: messages.cancel, run: cancel }
    end = toasts.replace({ kind: 'progress', text, action, stays: true })
  }

  if (all > MAX_OPERATIONS) showProgress()
  const outcome = await runBatches({
    files: client.files,
    steps,
    skipsRefused,
    signal: cancelled.signal,
    onBatch(done) {
      count += done.length
      apply(done)
      if (all > MAX_OPERATIONS) showProgress()
    },
  })
  end()
  tell(page, outcome, all)
  return outcome
}

/** Does the work, which reads files, and shows that the page is reading if it takes long. */
export async function showReading<T>({ toasts }: ManyPage, work: () => Promise<T>): Promise<T> {
  let end = (): void => undefined
  const tellSoon = setTimeout(() => {
    end = toasts.replace({ kind: 'progress', text: messages.files.loading, stays: true })
  }, READ_MS)
  try {
    return await work()
  } finally {
    clearTimeout(tellSoon)
    end()
  }
}

const READ_MS = 500

function tell({ toasts }: ManyPage, { done, refused, failure }: Outcome, all: number): void {
  const left = all - done.length
  if (left === 0) return
  const error = failure ?? refused.at(-1)?.error
  toasts.show(words.left(left, all, whyOf(error)))
}

const WHYS: Readonly<Record<string, string>> = {
  version_gone: whys.lost,
  file_exists: whys.exists,
  capacity_exceeded: whys.full,
  file_count_exceeded: whys.full,
  not_found: whys.changed,
  precondition_failed: whys.changed,
}

function whyOf(error: unknown): string {
  return WHYS[problemOf(error)?.code ?? ''] ?? failureOf(error)
}

export interface Offer {
  readonly kind: string
  readonly text: string
  readonly undo: () => Promise<unknown>
}

export function offerUndo({ toasts }: ManyPage, { kind, text, undo }: Offer): void {
  toasts.replace({ kind, text, action: { label: messages.undo, run: () => void undo() } })
}
