import { type ReadonlySignal, signal } from '@preact/signals'
import type { UploadItem } from './upload-item.ts'
import { createUploadRate } from './upload-rate.ts'

export interface UploadFigures {
  readonly all: number
  readonly done: number
  /** Uploads in progress, and those that continue without the user. */
  readonly active: number
  readonly bytes: number
  readonly sent: number
  readonly bytesPerSecond: number
}

export interface ShownFigures {
  readonly figures: ReadonlySignal<UploadFigures>
  /** Updates the figures soon: progress events arrive faster than anyone can read. */
  readonly show: () => void
  readonly showNow: () => void
}

const SHOW_MS = 150

/** A stalled upload reports nothing, but its figures change. */
const STALE_MS = 1_000

/** The totals of `items`, for display. */
export function createShownFigures(items: ReadonlySignal<readonly UploadItem[]>): ShownFigures {
  const figures = signal(figuresOf([], 0))
  const rate = createUploadRate()
  let isDue = false
  let stale: ReturnType<typeof setTimeout> | undefined

  function showNow(): void {
    figures.value = figuresOf(items.value, rate.perSecond())
  }

  function update(): void {
    isDue = false
    clearTimeout(stale)
    const { sent, active } = figuresOf(items.value, 0)
    if (active === 0) rate.reset()
    else {
      rate.note(sent)
      stale = setTimeout(update, STALE_MS)
    }
    showNow()
  }

  return {
    figures,
    showNow,
    show: () => {
      if (isDue) return
      isDue = true
      setTimeout(update, SHOW_MS)
    },
  }
}

/** Totals of all uploads. */
export function figuresOf(items: readonly UploadItem[], bytesPerSecond: number): UploadFigures {
  const counted = { all: items.length, done: 0, active: 0, bytes: 0, sent: 0, bytesPerSecond }
  for (const item of items) {
    const { state, size, sent } = item
    if (state.kind === 'done') counted.done += 1
    if (isActive(item)) counted.active += 1
    if (isActive(item) || state.kind === 'done') {
      counted.bytes += size
      counted.sent += sent
    }
  }
  return counted
}

/** Whether it is in progress, or continues without the user. */
export function isActive({ state }: UploadItem): boolean {
  return ACTIVE.has(state.kind)
}

const ACTIVE = new Set(['waiting', 'checking', 'sending', 'lost', 'paused', 'signed_out'])

/** Whether a file that is there has its name. */
export function isTaken({ state }: UploadItem): boolean {
  return state.kind === 'exists' || state.kind === 'unseen'
}

/** Whether it has failed, until the user has it tried again. */
export function needsRetry({ state }: UploadItem): boolean {
  return state.kind === 'full' || state.kind === 'refused'
}

/** Whether it has failed, or waits for a decision. */
export function waitsForUser(item: UploadItem): boolean {
  return item.state.kind !== 'done' && !isActive(item)
}
