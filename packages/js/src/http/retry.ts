import { type CloudRepositoryError, isProblem } from '../errors.ts'
import { pause } from './abort.ts'

/** How failed requests are repeated. */
export interface RetryPolicy {
  /** How often a request is sent without progress, at least 1. The default is 5; 1 means no retry. */
  readonly tries?: number | undefined
  /** The longest wait in seconds. If the service asks for more (`Retry-After`), the call fails at once. Default 60. */
  readonly maxWait?: number | undefined
  /** The wait before the first retry in milliseconds, without the random part. It doubles with each retry. Default 500. */
  readonly firstDelay?: number | undefined
  /** Which of the temporary failures are worth a retry: a lost connection, 408, 429 and 5xx. By default, all of them. */
  readonly when?: ((error: CloudRepositoryError) => boolean) | undefined
}

const MAX_DELAY_MS = 30_000

/** Whether a failed request certainly had no effect. */
export function hadNoEffect(error: unknown): boolean {
  return isProblem(error) && (error.status === 408 || error.status === 429)
}

/** The attempts at one request, or at one transfer that continues after each interruption. */
export class Attempts {
  /** Whether a failed attempt may have taken effect. */
  isUncertain = false
  readonly #policy: RetryPolicy
  readonly #signal: AbortSignal | undefined
  #failures = 0

  constructor(policy: RetryPolicy, signal: AbortSignal | undefined) {
    this.#policy = policy
    this.#signal = signal
  }

  /** Call it when a transfer makes progress: the next failure is the first again. */
  reset(): void {
    this.#failures = 0
  }

  /** Repeats `attempt` until it succeeds. Throws as `waitAfter`. */
  async until<T>(attempt: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        await this.waitAfter(error)
      }
    }
  }

  /**
   * Waits before the next attempt: exponentially longer with a random part, and at least `Retry-After`. Throws `error` if
   * a retry cannot help, if there were enough of them, or if the wait would be too long. `also` tells of which other
   * errors a retry helps too.
   */
  async waitAfter(
    error: unknown,
    also: (error: CloudRepositoryError) => boolean = () => false,
  ): Promise<void> {
    const { tries = 5, maxWait = 60, when = () => true } = this.#policy
    if (!(isTemporary(error) && when(error)) && !(isProblem(error) && also(error))) throw error
    this.isUncertain ||= !hadNoEffect(error)
    this.#failures += 1
    if (this.#failures >= tries || (error.retryAfter ?? 0) > maxWait) throw error
    await pause(retryDelay(error, this.#failures, this.#policy), this.#signal)
  }
}

/** Milliseconds before the next attempt after so many failures: with a random part, and at least `Retry-After`. */
export function retryDelay(
  error: unknown,
  failures: number,
  { firstDelay = 500, maxWait = 60 }: RetryPolicy = {},
): number {
  const delay = Math.min(firstDelay * 2 ** (failures - 1), MAX_DELAY_MS)
  const random = Math.min(delay * (0.5 + Math.random()), maxWait * 1000)
  return Math.max(isProblem(error) ? 1000 * (error.retryAfter ?? 0) : 0, random)
}

/** Whether the same request may succeed later. */
export function isTemporary(error: unknown): error is CloudRepositoryError {
  if (!isProblem(error)) return false
  const { status } = error
  if (status === undefined) return error.code === 'connection_lost'
  return status >= 500 || hadNoEffect(error)
}
