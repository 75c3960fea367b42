import { type ReadonlySignal, signal } from '@preact/signals'
import { isProblem } from '../../../packages/js/src/errors.ts'
import type { Http } from '../../../packages/js/src/http/http.ts'
import { readSample, type Sample } from './metrics-text.ts'

/** Health of the service and its dependencies. */
export type Health =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failing'; readonly parts: ReadonlySet<Part> }
  | { readonly kind: 'stopping' }
  | { readonly kind: 'unreachable' }

export type Part = 'database' | 'object_store'

export const PARTS: readonly Part[] = ['database', 'object_store']

export interface ServiceWatch {
  readonly health: ReadonlySignal<Health>
  /** Oldest first. */
  readonly samples: ReadonlySignal<readonly Sample[]>
  /** Takes a sample now, if wanted. Never rejects. */
  look(): Promise<void>
  /** Takes a sample every few seconds from now on. */
  start(): void
  /** Discards all samples. */
  clear(): void
}

export interface ServiceWatchOptions {
  readonly http: Http
  readonly isWanted: () => boolean
}

const INTERVAL_MS = 3_000

/** 15 minutes. */
const MAX_SAMPLES = 300

/** Polls health and metrics, and keeps the samples while the page is open. */
export function createServiceWatch({ http, isWanted }: ServiceWatchOptions): ServiceWatch {
  const health = signal<Health>({ kind: 'unknown' })
  const samples = signal<readonly Sample[]>([])

  let isLooking = false

  async function ask(): Promise<void> {
    health.value = await askHealth(http)
    if (health.value.kind === 'unreachable') return
    const { text } = await http.ask({ path: 'metrics' })
    const sample = readSample(text, performance.now())
    samples.value = [...samples.value, sample].slice(-MAX_SAMPLES)
  }

  async function look(): Promise<void> {
    if (isLooking || !isWanted()) return
    isLooking = true
    // A refused token is handled by the session; other failures are retried with the next sample.
    await ask().catch(() => undefined)
    isLooking = false
  }

  return {
    health,
    samples,
    look,

    start() {
      setInterval(() => void look(), INTERVAL_MS)
      document.addEventListener('visibilitychange', () => void look())
    },

    clear() {
      samples.value = []
      health.value = { kind: 'unknown' }
    },
  }
}

async function askHealth(http: Http): Promise<Health> {
  try {
    await http.ask({ path: 'readyz' })
    return { kind: 'ready' }
  } catch (error) {
    if (isProblem(error, 'connection_lost')) return { kind: 'unreachable' }
    // A response of a proxy says nothing about the dependencies.
    if (!isProblem(error, 'unavailable')) return { kind: 'unknown' }
    const members = Object.entries(error.problem)
    const failing = new Set(
      members.filter(([, state]) => state === 'failing').map(([name]) => name),
    )
    const parts = new Set(PARTS.filter((part) => failing.has(part)))
    return parts.size === 0 ? { kind: 'stopping' } : { kind: 'failing', parts }
  }
}
