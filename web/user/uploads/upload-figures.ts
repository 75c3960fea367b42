import type { UploadItem } from './upload-item.ts'

export interface UploadFigures {
  readonly all: number
  readonly done: number
  /** Uploads in progress, and those that continue without the user. */
  readonly active: number
  readonly bytes: number
  readonly sent: number
  readonly bytesPerSecond: number
}

/** Totals of all uploads. */
export function figuresOf(items: readonly UploadItem[], bytesPerSecond: number): UploadFigures {
  const counted = { all: items.length, done: 0, active: 0, bytes: 0, sent: 0, bytesPerSecond }
  for (const { state, size, sent } of items) {
    const isActive = ACTIVE.has(state.kind)
    if (state.kind === 'done') counted.done += 1
    if (isActive) counted.active += 1
    if (isActive || state.kind === 'done') {
      counted.bytes += size
      counted.sent += sent
    }
  }
  return counted
}

const ACTIVE = new Set(['waiting', 'checking', 'sending', 'lost', 'paused', 'signed_out'])
