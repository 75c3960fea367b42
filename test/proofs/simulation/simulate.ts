import { createLedger } from '../../../src/database/ledger.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import { FakeS3 } from '../../support/faults/fake-s3.ts'
import { createChecker } from './model/checker.ts'
import { userIdOf } from './world/client.ts'
import { conduct, crash } from './model/conduct.ts'
import { DatabaseClock } from './world/database-clock.ts'
import { type Call, createFaults } from './world/faults.ts'
import { Model } from './model/model.ts'
import {
  GARBAGE_DELAY_MS,
  HISTORY_SHARE,
  LEASE_MS,
  MAX_FILES,
  MAX_UNFINISHED,
  MAX_UPLOADS,
  RETENTION_MS,
} from './plan/parameters.ts'
import type { Plan } from './plan/plan.ts'
import { comeToRest, drain } from './model/quiescence.ts'
import { createRandom } from './plan/random.ts'
import type { Stage, StageDatabase } from './world/stage.ts'
import { Timeline } from './world/timeline.ts'
import { installVirtualGlobals } from './world/virtual-globals.ts'
import { safeClockOf, startInstance, type Variant, type World } from './world/world.ts'

/** How one run went. */
export interface Run {
  /** What broke an invariant first; nothing, in a good run. */
  readonly violation: unknown
  /** One line for each event; the same plan always yields the same lines. */
  readonly log: readonly string[]
  readonly events: number
  /** How many of the events came before faults were stopped. */
  readonly eventsAtWork: number
  /** Every call that could have failed, in order. */
  readonly calls: readonly Call[]
  /** How often each fault was injected. */
  readonly injected: ReadonlyMap<string, number>
}

export interface SimulateOptions {
  readonly stage: Stage
  /** A planted bug. */
  readonly variant?: Variant
}

/** Plays a plan to its end, or to the first violation. */
export async function simulate(plan: Plan, options: SimulateOptions): Promise<Run> {
  const timeline = new Timeline()
  return await timeline.enter(() => play(timeline, plan, options))
}

async function play(timeline: Timeline, plan: Plan, options: SimulateOptions): Promise<Run> {
  const { stage, variant = {} } = options
  const random = createRandom(plan.seed)
  const clock = new DatabaseClock(timeline)
  await using held = await stage.openDatabase(() => clock.now())
  let violation: unknown
  const report = (found: unknown): void => {
    timeline.note(`VIOLATION ${String(found)}`)
    violation ??= found
  }
  using _rejections = onUnhandledRejection(report)
  using _globals = installVirtualGlobals(timeline, random)
  const world = createWorld({ plan, held, timeline, clock, random, variant, report })
  await populate(world)
  schedule(world, plan)
  let events = 0
  let eventsAtWork = 0
  const step = async (): Promise<boolean> => {
    if (events === plan.crashAfter?.event) crash(world, plan.crashAfter.process)
    events += 1
    return violation === undefined && (await timeline.step())
  }
  try {
    await drain(step)
    eventsAtWork = events
    if (violation === undefined) await comeToRest(world, step)
  } catch (error) {
    report(error)
  }
  if (violation !== undefined) held.spoil()
  const { calls, injected } = world.faults
  return { violation, log: timeline.log, events, eventsAtWork, calls, injected }
}

interface WorldOptions extends Pick<World, 'timeline' | 'clock' | 'random' | 'variant' | 'report'> {
  readonly plan: Plan
  readonly held: StageDatabase
}

function createWorld(options: WorldOptions): World {
  const { plan, held, timeline, clock, random, variant, report } = options
  const { database, ledgerReader } = held
  const { historyLifetimeMs, baseCapacity } = plan
  const model = new Model(baseCapacity)
  const bucket = new FakeS3()
  const operations: World['operations'] = []
  const { retentionMs = RETENTION_MS } = variant
  const times = {
    leaseMs: LEASE_MS,
    uploadLifetimeMs: plan.uploadLifetimeMs,
    garbageDelayMs: GARBAGE_DELAY_MS,
    retentionMs,
  }
  const ledgerOptions = {
    baseCapacity,
    historyLifetimeMs,
    historyShare: HISTORY_SHARE,
    limits: { maxFiles: MAX_FILES, maxUploads: MAX_UPLOADS, maxUnfinished: MAX_UNFINISHED },
    times,
  }
  const ledger = createLedger(database, ledgerOptions)
  const faults = createFaults({ random, rate: plan.faultRate, planned: plan.plannedFaults })
  return {
    timeline,
    clock,
    isClockSafe: plan.steps.some(({ action }) => action.kind === 'clock'),
    random,
    faults,
    strays: new Set(),
    observer: createChecker({
      model,
      ledgerReader,
      bucket,
      operations,
      report,
      clock: () => clock.now(),
      timeline,
      databaseClock: clock,
      historyLifetimeMs,
      uploadLifetimeMs: plan.uploadLifetimeMs,
    }),
    database,
    ledger: { ...ledger, ...(plan.sweepsMeet ? { acquireLeaderLease: async () => true } : {}) },
    ledgerOptions,
    users: createUserStore(database, ledgerOptions),
    ledgerReader,
    bucket,
    model,
    operations,
    instances: [],
    variant,
    uploadLifetimeMs: plan.uploadLifetimeMs,
    historyLifetimeMs,
    report,
  }
}

async function populate(world: World): Promise<void> {
  const { users, model } = world
  // As the first start does, while the clock is right.
  await safeClockOf(world, world.ledger)?.read()
  for (const user of [0, 1]) {
    model.create((await users.createUser(userIdOf(user))).user)
  }
}

function schedule(world: World, plan: Plan): void {
  for (let index = 0; index < plan.processes; index++) {
    const skewMs = plan.skews[index] ?? 0
    const process = { name: `i${index}`, alive: true, pausedUntil: 0, skewMs }
    world.instances.push(startInstance(world, process))
  }
  let after = 0
  for (const step of plan.steps) {
    after += step.after
    const { action } = step
    const label = JSON.stringify(action)
    world.timeline.add({ after, label, run: () => conduct(world, action) })
  }
}

/** A promise that nobody waits for and that fails would end the process. */
function onUnhandledRejection(report: (error: unknown) => void): Disposable {
  const listener = (reason: unknown): void => report(new Error(`X: unhandled ${String(reason)}`))
  process.on('unhandledRejection', listener)
  return { [Symbol.dispose]: () => void process.off('unhandledRejection', listener) }
}
