import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { Sweeper } from '../core/sweep/sweeper.ts'

export interface BackgroundJobsOptions {
  readonly sweeper: Sweeper
  /** `AccessTokens.recordUses`. */
  readonly recordUses: () => Promise<void>
  /** `ResumableUploads.stopAsked`. */
  readonly stopAsked: () => Promise<void>
  /** `note` of `createGrantPeriods`. */
  readonly noteGrants: (signal: AbortSignal) => Promise<void>
  /** `OverviewReader.recordDay`. */
  readonly recordDay: (signal: AbortSignal) => Promise<void>
  /** `run` of `createWebhookDelivery`. */
  readonly deliverWebhooks: (signal: AbortSignal) => Promise<void>
  /** `run` of `createScheduledBackups`. */
  readonly makeBackups: (signal: AbortSignal) => Promise<void>
  readonly logger: FastifyBaseLogger
  readonly intervals?: JobIntervals | undefined
}

/** For tests; the constants below are the defaults. */
export interface JobIntervals {
  readonly recordIntervalMs?: number | undefined
  readonly sweepIntervalMs?: number | undefined
}

export type BackgroundJobs = ReturnType<typeof startBackgroundJobs>

export function startBackgroundJobs(options: BackgroundJobsOptions) {
  const { sweeper, recordUses, logger, intervals = {} } = options
  const { recordIntervalMs = RECORD_INTERVAL_MS, sweepIntervalMs = SWEEP_INTERVAL_MS } = intervals
  const stopping = new AbortController()
  const { signal } = stopping
  const warn = (failure: string) => (err: unknown) => logger.warn({ err }, failure)
  const report = (failure: string) => (err: unknown) => {
    if (!signal.aborted) logger.error({ err }, failure)
  }
  const every = (everyMs: number, run: () => Promise<void>) => repeat({ everyMs, run, signal })
  const sweep = () => sweepOnce({ sweeper, logger, signal }).catch(report('sweep failed'))
  const expire = () =>
    expireOnce({ sweeper, logger, signal }).catch(report('aborting expired uploads failed'))
  const record = () => recordUses().catch(warn('recording the use of access tokens failed'))
  // Not part of the sweep, which can take long. At once, for reservations that a crash has left.
  const expiries = expire().then(() => every(sweepIntervalMs, expire))
  const sweeps = every(sweepIntervalMs, sweep)
  const stopAsked = () =>
    options.stopAsked().catch(warn('requests to stop an append could not be read'))
  const noteGrants = () =>
    options.noteGrants(signal).catch(report('noticing that grants have begun or ended failed'))
  const recordDay = () =>
    options.recordDay(signal).catch(report('recording the figures of the day failed'))
  const deliveries = options.deliverWebhooks(signal)
  const backups = options.makeBackups(signal)
  const others = [
    every(sweepIntervalMs, noteGrants),
    every(sweepIntervalMs, recordDay),
    every(STOP_INTERVAL_MS, stopAsked),
    every(recordIntervalMs, record),
  ]
  return {
    /** Starts no further job, ends a backup, and waits for running sweeps. */
    async stop(): Promise<void> {
      stopping.abort()
      await Promise.all([sweeps, expiries, deliveries, backups])
    },
    /** Records the latest uses of access tokens, for at most `LAST_RECORD_MS`. Never rejects. */
    async recordLast(): Promise<void> {
      const recorded = Promise.all([record(), ...others])
      await Promise.race([recorded, delay(LAST_RECORD_MS, undefined, { ref: false })])
    },
  }
}

/** Maximum age of `last_used_at` while a token is in use. */
const RECORD_INTERVAL_MS = 60_000

/** A client that returns to another instance waits up to this long until this one releases its upload. */
const STOP_INTERVAL_MS = 1_000

/** Uses are only time stamps, so an unavailable database must not delay the shutdown. */
const LAST_RECORD_MS = 1_000

/** With the lease, bounds how long a crash holds capacity: 60 s + 20 s and the abort itself. */
const SWEEP_INTERVAL_MS = 20_000

interface Repeated {
  readonly everyMs: number
  readonly signal: AbortSignal
  readonly run: () => Promise<void>
}

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

/** A running sweep does not look for newly deleted users, so it must end. */
const MAX_SWEEP_MS = 60_000

const FAILED_REMOVALS = 'removing some objects failed; the next sweep retries'

async function sweepOnce({ sweeper, logger, signal }: SweepOptions): Promise<void> {
  const { firstFailure, end, ...counts } = await sweeper.sweep({ signal, maxMs: MAX_SWEEP_MS })
  if (counts.failedRemovals > 0) logger.warn({ ...counts, end, err: firstFailure }, FAILED_REMOVALS)
  else if (Object.values(counts).some((count) => count > 0)) logger.info(counts, 'sweep finished')
}

async function expireOnce({ sweeper, logger, signal }: SweepOptions): Promise<void> {
  const expiredUploads = await sweeper.expire(signal)
  if (expiredUploads > 0) logger.info({ expiredUploads }, 'expired uploads aborted')
}
