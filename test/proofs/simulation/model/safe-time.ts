import type { AppliedCall } from '../world/seam.ts'
import { NEVER } from '../../../../src/core/files/file.ts'
import { EVENT_LIFETIME_MS, HISTORY_SHARE } from '../plan/parameters.ts'
import type { Applied, CheckerOptions } from './applied.ts'
import { capacityOf, type ModelFile } from './model.ts'
import { demand } from './violation.ts'

/** The time by which the ledger destroys what has ended. `assertSafeTime` holds it against the right time. */
export function safeNow({ before, clock }: Pick<Applied, 'before' | 'clock'>): number {
  return Math.min(before.safeTime ?? Infinity, clock())
}

/** What ends at a time of the database's clock ends as much later by the timeline. */
export function noteExpiry(
  applied: Applied,
  { version, expiresAt }: Pick<ModelFile, 'version' | 'expiresAt'>,
): void {
  const { model } = applied
  if (expiresAt === NEVER) model.dueAt.delete(version)
  else model.dueAt.set(version, dueAfter(applied, expiresAt))
}

/**
 * When what is written now is due by the timeline. While the clock has jumped back and no sweep has read it yet, the
 * service does not know (core/sweep/README.md).
 */
function dueAfter(applied: Applied, at: number): number {
  const { timeline, clock } = applied
  return isSeen(applied) ? timeline.now + at - clock() : -Infinity
}

function isSeen({ before, clock }: Applied): boolean {
  return before.safeTime === undefined || before.safeTime <= clock()
}

/** Nothing is destroyed before its time by a clock that never jumps (I17). */
export function assertDue(
  { timeline }: Pick<Applied, 'timeline'>,
  due: number | undefined,
  what: string,
): void {
  const isDue = due !== undefined && timeline.now > due - ROUNDING_MS
  demand(isDue, 'I17', `${what} is destroyed ${((due ?? Infinity) - timeline.now) / 1000} s early`)
}

/** The database counts whole milliseconds. */
const ROUNDING_MS = 1

/** What a call has destroyed was due, and the safe time is not ahead of the right time (I17). */
export function assertSafeTime(applied: Applied, call: AppliedCall): void {
  assertBehind(applied, call)
  const { model, before, after, clock, historyLifetimeMs } = applied
  const past = new Set(after.history.map(({ version }) => version))
  if (call.method === 'trimHistory') {
    for (const { version, user_id: userId } of before.history) {
      const isBeyond = isBeyondAllowance(applied, userId)
      if (past.has(version) || isBeyond) continue
      const ended = (model.endedAt.get(version) ?? Infinity) + historyLifetimeMs
      assertDue(applied, Math.min(ended, model.dueAt.get(version) ?? Infinity), version)
    }
  }
  model.latestSafeNow = Math.max(model.latestSafeNow, safeNow(applied))
  if (call.method === 'forgetChanges') assertForgettable(applied)
  if (call.method === 'listGarbage' && call.outcome.status === 'fulfilled') {
    for (const { objectKey: key } of call.outcome.value) {
      assertDue(applied, model.garbageDueAt.get(key), key)
    }
  }
  const wasPast = new Set(before.history.map(({ version }) => version))
  for (const version of past)
    if (!wasPast.has(version)) model.endedAt.set(version, dueAfter(applied, clock()))
  if (call.method === 'storeClock') model.clockStoredAt = applied.timeline.now
  const wasDue = new Map(before.garbage.map((row) => [row.object_key, row.not_before]))
  for (const { object_key: key, not_before: due, user_id: userId } of after.garbage) {
    if (wasDue.get(key) === due) continue
    // What is pulled back is due later than it was, unless the jump back is not stored before the next jump.
    const isKept = call.method === 'pullBack' && isSeen(applied)
    if (isKept) continue
    // The delay of a user's garbage counts from the safe time; that of a tail from the lease of its upload.
    const isSafe = userId !== null && before.safeTime !== undefined && !isSeen(applied)
    const at = isSafe ? model.clockStoredAt + due - before.safeTime : dueAfter(applied, due)
    model.garbageDueAt.set(key, at)
  }
}

/** By their own times, which a clock that was wrong has given. */
function assertForgettable(applied: Applied): void {
  const { model, before, after } = applied
  const kept = new Set(after.changes.map((row) => `${row.user_id}/${row.sequence}`))
  for (const { user_id: userId, sequence, at } of before.changes) {
    if (kept.has(`${userId}/${sequence}`) || model.user(userId).status === 'deleted') continue
    const isOld = at < safeNow(applied) - EVENT_LIFETIME_MS
    demand(isOld, 'I17', `the change ${sequence} of ${userId} is forgotten early`)
  }
}

/** Wrong clocks of a run are never believed, and the right one shows the time of the timeline. */
function assertBehind({ timeline }: Applied, call: AppliedCall): void {
  if (call.method !== 'storeClock') return
  const { safe } = call.argument
  demand(safe <= timeline.now, 'I17', `a safe time that is ${safe - timeline.now} ms ahead`)
}

/** Of a history that holds more than it may, versions are purged at once. */
function isBeyondAllowance({ before, model }: Applied, userId: ModelUserId): boolean {
  const held = before.quotas.find((row) => row.user_id === userId)?.history_bytes ?? 0
  return held > (capacityOf(model.user(userId)) * HISTORY_SHARE) / 100
}

type ModelUserId = Parameters<CheckerOptions['model']['user']>[0]
