import { setInterval, setTimeout as delay } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { AccessTokens } from './core/access-tokens.ts'
import type { Sweeper } from './core/sweeper.ts'

export interface ChoresOptions {
  readonly sweeper: Sweeper
  readonly accessTokens: AccessTokens
  readonly logger: FastifyBaseLogger
  /** How often the use of access tokens is recorded, for tests; every minute when left out. */
  readonly recordIntervalMs?: number | undefined
  /** How often it sweeps, for tests. */
  readonly sweepIntervalMs?: number | undefined
}

export interface Chores {
  /** Begins no further one, and resolves when no sweep runs any more. */
  stop(): Promise<void>
  /** Records the uses of access tokens since the last time, unless that takes long. Never rejects. */
  recordLast(): Promise<void>
}

/** Starts what has to be done from time to time. What fails is logged and tried again the next time. */
export function startChores(options: ChoresOptions): Chores {
  const { sweeper, accessTokens, logger } = options
  const { recordIntervalMs = RECORD_INTERVAL_MS, sweepIntervalMs = SWEEP_INTERVAL_MS } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const sweep = () => sweepOnce({ sweeper, logger, signal })
  const record = () => recordUses({ accessTokens, logger })
  const sweeps = repeat({ everyMs: sweepIntervalMs, run: sweep, logger, signal })
  const records = repeat({ everyMs: recordIntervalMs, run: record, logger, signal })
  return {
    stop() {
      stopping.abort()
      return sweeps
    },
    async recordLast() {
      const recorded = Promise.all([records, record()])
      await Promise.race([recorded, delay(LAST_RECORD_MS, undefined, { ref: false })])
    },
  }
}

/** How old `last_used_at` of an access token can be while the token is in use. */
const RECORD_INTERVAL_MS = 60_000

/** It is only a time stamp, so a database that is gone does not hold up the end. */
const LAST_RECORD_MS = 1_000

/** With the lease it bounds how long a crash can hold capacity: 60 s + 20 s and the sweep itself. */
const SWEEP_INTERVAL_MS = 20_000

interface Chore {
  readonly everyMs: number
  readonly signal: AbortSignal
  readonly logger: FastifyBaseLogger
  /** Logs what fails and never rejects. */
  readonly run: () => Promise<void>
}

/** Runs a chore from time to time until the signal aborts. */
async function repeat({ everyMs, signal, logger, run }: Chore): Promise<void> {
  try {
    for await (const _ of setInterval(everyMs, undefined, { signal, ref: false })) await run()
  } catch (error) {
    if (!signal.aborted) logger.error({ err: error }, 'a chore ended')
  }
}

interface SweepOptions {
  readonly sweeper: Sweeper
  readonly logger: FastifyBaseLogger
  readonly signal: AbortSignal
}

async function sweepOnce({ sweeper, logger, signal }: SweepOptions): Promise<void> {
  try {
    const report = await sweeper.sweep(signal)
    const { firstFailure, ...counts } = report
    if (counts.failedRemovals > 0) logger.warn({ ...counts, err: firstFailure }, 'sweep')
    else if (Object.values(counts).some((count) => count > 0)) logger.info(counts, 'sweep')
  } catch (error) {
    if (!signal.aborted) logger.error({ err: error }, 'sweep failed')
  }
}

interface RecordOptions {
  readonly accessTokens: AccessTokens
  readonly logger: FastifyBaseLogger
}

async function recordUses({ accessTokens, logger }: RecordOptions): Promise<void> {
  try {
    await accessTokens.recordUses()
  } catch (error) {
    logger.warn({ err: error }, 'the use of access tokens was not recorded')
  }
}
