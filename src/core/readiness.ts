import { settledUnlessAborted, timeoutSignal } from './async/deadline.ts'
import type { Dependency } from './errors.ts'

export type Readiness = ReturnType<typeof createReadiness>

export interface ReadinessOptions {
  readonly checkDatabase: () => Promise<unknown>
  readonly checkObjectStore: (signal: AbortSignal) => Promise<void>
  readonly timeoutMs: number
}

const MAX_AGE_MS = 500

export function createReadiness(options: ReadinessOptions) {
  const { checkDatabase, checkObjectStore, timeoutMs } = options
  let latest: Promise<ReadonlyMap<Dependency, unknown>> | undefined
  let askedAt = Number.NEGATIVE_INFINITY

  async function ask(): Promise<ReadonlyMap<Dependency, unknown>> {
    const signal = timeoutSignal(timeoutMs)
    const answers = await Promise.all([
      failureOf('database', settledUnlessAborted(checkDatabase(), signal)),
      failureOf('object_store', settledUnlessAborted(checkObjectStore(signal), signal)),
    ])
    return new Map(answers.flat())
  }

  return {
    /**
     * The dependencies that do not answer and their reasons; empty when all do. Results are at most 500 ms old, so any
     * number of probes is cheap. One that hangs is reported after `timeoutMs`. Never rejects.
     */
    failures(): Promise<ReadonlyMap<Dependency, unknown>> {
      const now = performance.now()
      if (latest === undefined || now - askedAt > MAX_AGE_MS) {
        askedAt = now
        latest = ask()
      }
      return latest
    },
  }
}

async function failureOf(
  dependency: Dependency,
  check: Promise<unknown>,
): Promise<[Dependency, unknown][]> {
  try {
    await check
    return []
  } catch (error) {
    return [[dependency, error]]
  }
}
