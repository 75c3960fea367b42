import type { ClockLedger } from '../../../../src/core/clock/clock-ledger.ts'
import { createSafeClock, type SafeClock } from '../../../../src/core/clock/safe-clock.ts'
import { createLedger, type Ledger } from '../../../../src/database/ledger.ts'
import type { LedgerOptions } from '../../../../src/database/operations/session.ts'
import type { ObjectStore } from '../../../../src/core/objects/object-store.ts'
import { createRepository, type Repository } from '../../../../src/core/repository.ts'
import {
  createResumableUploads,
  type ResumableUploads,
} from '../../../../src/core/resumable/resumable-uploads.ts'
import { createHistory, type History } from '../../../../src/core/history/history.ts'
import { createSweeper, type Sweeper } from '../../../../src/core/sweep/sweeper.ts'
import type { UserStores } from '../../../../src/database/users/user-store.ts'
import type { Database } from '../../../../src/database/database.ts'
import { createS3Store } from '../../../../src/object-store/s3/store.ts'
import type { FakeS3 } from '../../../support/faults/fake-s3.ts'
import type { LedgerReader } from '../model/ledger-state.ts'
import { type BucketGate, gateBucket } from './bucket-gate.ts'
import { gateLedger } from './ledger-gate.ts'
import type { Model } from '../model/model.ts'
import type { Operation } from '../plan/operation.ts'
import { EVENT_LIFETIME_MS, LEASE_MS, MAX_FILE_SIZE, PART_SIZE } from '../plan/parameters.ts'
import type { DatabaseClock } from './database-clock.ts'
import type { Seam } from './seam.ts'
import type { Actor, Process } from './timeline.ts'
import { ampleMemory } from '../../../support/upload-memory.ts'

/** Everything of one run. */
export interface World extends Seam {
  readonly clock: DatabaseClock
  /** Whether sweeps go by the safe time: where the clock jumps. */
  readonly isClockSafe: boolean
  readonly database: Database
  /** What all instances share: the ledger on the database, without a network before it. */
  readonly ledger: Ledger
  readonly ledgerOptions: LedgerOptions
  readonly users: UserStores
  readonly ledgerReader: LedgerReader
  readonly bucket: FakeS3
  readonly model: Model
  readonly operations: Operation[]
  readonly instances: Instance[]
  readonly variant: Variant
  readonly uploadLifetimeMs: number
  readonly historyLifetimeMs: number
  readonly report: (violation: unknown) => void
}

/** The ports as one instance sees them. */
export interface Ports {
  readonly ledger: Ledger
  readonly objects: ObjectStore
}

/** What a run replaces in order to plant a bug; nothing, in the service as it is. */
export interface Variant {
  /** Replaces methods of the ledger on the database's side of the network. */
  readonly sharedLedger?: (world: World) => Partial<Ledger>
  /** Replaces methods of the ledger on the service's side of the network. */
  readonly ledger?: (ports: Ports, world: World) => Partial<Ledger>
  readonly objects?: (objects: ObjectStore, world: World) => Partial<ObjectStore>
  readonly uploads?: (uploads: ResumableUploads, ports: Ports) => Partial<ResumableUploads>
  readonly repository?: (repository: Repository) => Partial<Repository>
  readonly sweeper?: (ports: Ports, world: World) => Sweeper
  readonly retentionMs?: number
}

export interface Instance {
  readonly process: Process
  readonly repository: Repository
  readonly history: History
  readonly uploads: ResumableUploads
  /** Appends whose clients wait for their answers. */
  readonly appends: Set<Operation>
  /** Whether it asks every second which of its appends are to stop. */
  isAsking: boolean
  readonly sweeper: Sweeper
  readonly gate: BucketGate
}

/** A ledger on the same database that has other limits. */
export function ledgerWith({ database, ledgerOptions }: World, limits: LedgerOptions['limits']) {
  return createLedger(database, {
    ...ledgerOptions,
    limits: { ...ledgerOptions.limits, ...limits },
  })
}

/** Undefined where the clock does not jump. */
export function safeClockOf(
  { isClockSafe, timeline }: Pick<World, 'isClockSafe' | 'timeline'>,
  ledger: ClockLedger,
): SafeClock | undefined {
  if (!isClockSafe) return undefined
  const steady = { boot: 'simulated', now: () => timeline.now }
  return createSafeClock({ ledger, steady, leaseMs: LEASE_MS })
}

/** Starts an instance of the service: core and S3 adapter as they are, behind gates. */
export function startInstance(world: World, process: Process): Instance {
  const { bucket, variant } = world
  const gate = gateBucket(bucket, world)
  const store = createS3Store({
    ...bucket.options(),
    requestHandler: gate,
    deadlines: {},
    partSize: PART_SIZE,
    maxFileSize: MAX_FILE_SIZE,
  })
  const objects = { ...store, ...variant.objects?.(store, world) }
  const shared = { ...world.ledger, ...variant.sharedLedger?.(world) }
  const gated = { ledger: gateLedger(shared, world), objects }
  const ports = { objects, ledger: { ...gated.ledger, ...variant.ledger?.(gated, world) } }
  const settings = {
    ...ports,
    memory: ampleMemory(),
    maxFileSize: MAX_FILE_SIZE,
  }
  const repository = createRepository({ ...settings, leaseMs: LEASE_MS })
  const start: Actor = { process, name: 'start', operation: undefined }
  const uploads = world.timeline.runAs(start, () => createResumableUploads(settings))
  return {
    process,
    gate,
    repository: { ...repository, ...variant.repository?.(repository) },
    history: createHistory(settings),
    uploads: { ...uploads, ...variant.uploads?.(uploads, ports) },
    appends: new Set(),
    isAsking: false,
    sweeper:
      variant.sweeper?.(ports, world) ??
      createSweeper({
        ...ports,
        eventLifetimeMs: EVENT_LIFETIME_MS,
        safeClock: safeClockOf(world, ports.ledger),
      }),
  }
}
