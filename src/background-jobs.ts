import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { AccessTokens } from './core/auth/access-tokens.ts'
import type { FailedAttemptLimiter } from './core/auth/failed-attempt-limiter.ts'
import type { Sweeper } from './core/sweep/sweeper.ts'

export interface BackgroundJobsOptions {
  readonly sweeper: Sweeper
  readonly accessTokens: Pick<AccessTokens, 'recordUses'>
  readonly failedAttempts: Pick<FailedAttemptLimiter, 'share' | 'forgetExpired'>
  readonly logger: FastifyBaseLogger
  /** How often the use of access tokens is recorded, for tests; every minute when left out. */
  readonly recordIntervalMs?: number | undefined
  /** How often a sweep begins and expired uploads are looked for, for tests; every 20 s when left out. */
  readonly sweepIntervalMs?: number | undefined
  /** Likewise for what is counted of guessing: every second, and every minute what is over is forgotten. */
  readonly shareIntervalMs?: number | undefined
  readonly forgetIntervalMs?: number | undefined
}

export interface BackgroundJobs {
  /** Begins no further one, and resolves when no sweep runs any more. */
  stop(): Promise<void>
  /** Records the uses of access tokens since the last time, unless that takes long. Never rejects. */
  recordLast(): Promise<void>
}

/** Starts what has to be done from time to time. What fails is logged and tried again the next time. */
export function startBackgroundJobs(options: BackgroundJobsOptions): BackgroundJobs {
  const { sweeper, accessTokens, failedAttempts, logger } = options
  const { recordIntervalMs = RECORD_INTERVAL_MS, sweepIntervalMs = SWEEP_INTERVAL_MS } = options
  const { shareIntervalMs = SHARE_INTERVAL_MS, forgetIntervalMs = FORGET_INTERVAL_MS } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const warn = (failure: string) => (err: unknown) => logger.warn({ err }, failure)
  const report = (failure: string) => (err: unknown) => {
    if (!signal.aborted) logger.error({ err }, failure)
  }
  const every = (everyMs: number, run: () => Promise<void>) => repeat({ everyMs, run, signal })
  const sweep = () => sweepOnce({ sweeper, logger, signal }).catch(report('sweep failed'))
  const expire = () =>
    expireOnce({ sweeper, logger, signal }).catch(report('expired uploads could not be aborted'))
  const record = () =>
    accessTokens.recordUses().catch(warn('the use of access tokens was not recorded'))
  const share = () =>
    failedAttempts.share().catch(warn('failed attempts were not shared with the other instances'))
  const forget = () =>
    failedAttempts.forgetExpired().catch(warn('expired failed attempts were not deleted'))
  // By itself, since a sweep can take long, and reservations without an owner must not wait for its end.
  // At once, for those that a crash before this start has left.
  const expiries = expire().then(() => every(sweepIntervalMs, expire))
  const sweeps = every(sweepIntervalMs, sweep)
  const others = [
    every(shareIntervalMs, share),
    every(forgetIntervalMs, forget),
    every(recordIntervalMs, record),
  ]
  return {
    async stop() {
      stopping.abort()
      await Promise.all([sweeps, expiries])
    },
    async recordLast() {
      const recorded = Promise.all([record(), ...others])
      await Promise.race([recorded, delay(LAST_RECORD_MS, undefined, { ref: false })])
    },
  }
}

/** How old `last_used_at` of an access token can be while the token is in use. */
const RECORD_INTERVAL_MS = 60_000

/** How long an address that one instance has blocked can go on at another. */
const SHARE_INTERVAL_MS = 1_000
const FORGET_INTERVAL_MS = 60_000

/** It is only a time stamp, so a database that is gone does not hold up the end. */
const LAST_RECORD_MS = 1_000

/** With the lease it bounds how long a crash can hold capacity: 60 s + 20 s and what the abort takes. */
const SWEEP_INTERVAL_MS = 20_000

interface Repeated {
  readonly everyMs: number
  readonly signal: AbortSignal
  /** Logs what fails and never rejects. */
  readonly run: () => Promise<void>
}

/** Runs a job until the signal aborts, with a rest after each time, however long it took. */
async function repeat({ everyMs, signal, run }: Repeated): Promise<void> {
  while (!signal.aborted) {
    await delay(everyMs, undefined, { signal, ref: false }).catch(() => undefined)
    if (!signal.aborted) await run()
  }
}

interface SweepOptions {
  readonly sweeper: Sweeper
  readonly logger: FastifyBaseLogger
  readonly signal: AbortSignal
}

async function sweepOnce({ sweeper, logger, signal }: SweepOptions): Promise<void> {
  const { firstFailure, end, ...counts } = await sweeper.sweep({ signal })
  if (counts.failedRemovals > 0) logger.warn({ ...counts, end, err: firstFailure }, 'sweep')
  else if (Object.values(counts).some((count) => count > 0)) logger.info(counts, 'sweep')
}

async function expireOnce({ sweeper, logger, signal }: SweepOptions): Promise<void> {
  const expiredUploads = await sweeper.expire(signal)
  if (expiredUploads > 0) logger.info({ expiredUploads }, 'expired uploads')
}
