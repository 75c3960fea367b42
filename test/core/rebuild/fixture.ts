import { setTimeout } from 'node:timers/promises'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import {
  createRebuilder,
  type RebuildCounts,
  type RebuildFinding,
  type RebuildRequest,
} from '../../../src/core/rebuild/rebuilder.ts'
import type { RebuildLedger } from '../../../src/core/rebuild/rebuild-ledger.ts'
import type { UserId } from '../../../src/core/users/user-id.ts'
import type { Database } from '../../../src/database/database.ts'
import { createRebuildLedger } from '../../../src/database/rebuild/rebuild-ledger.ts'
import { faultyStore, outage } from '../../support/faults/faults.ts'
import { bytesOf, never, streamOf } from '../../support/objects.ts'
import { openBed, type VerifyAdapters, type VerifyBed } from '../verify/fixture.ts'

/** A database in use, an empty one to rebuild into, and the objects of the first. */
export interface RebuildAdapters extends VerifyAdapters {
  readonly empty: Database
}

export type OpenRebuildAdapters = () => Promise<RebuildAdapters>

export interface Ports {
  readonly objects?: ObjectStore
  readonly ledger?: RebuildLedger
}

/** What was uploaded by way of the database that gets lost, and the same objects on the empty one. */
export interface RebuildBed extends RebuildAdapters {
  readonly lost: VerifyBed
  /** Opened anew each time, so that it shows what is there now. */
  readonly rebuilt: (settings?: Readonly<Record<string, string>>) => Promise<VerifyBed>
  /** One run, and its findings in the order of their kinds and keys. */
  rebuild(
    request?: Partial<RebuildRequest>,
    ports?: Ports,
  ): Promise<{ readonly counts: RebuildCounts; readonly findings: readonly RebuildFinding[] }>
}

export async function openRebuildBed(open: OpenRebuildAdapters): Promise<RebuildBed> {
  const adapters = await open()
  const { empty, objects } = adapters
  return {
    ...adapters,
    lost: await openBed(async () => adapters),
    rebuilt: (settings) => openBed(async () => ({ ...adapters, database: empty }), settings),
    async rebuild(request = {}, ports = {}) {
      const findings: RebuildFinding[] = []
      const ledger = createRebuildLedger(empty)
      const counts = await createRebuilder({ ledger, objects, ...ports }).rebuild({
        dryRun: false,
        skipUnreadable: false,
        onFinding: (finding) => findings.push(finding),
        onRestart: () => undefined,
        onProgress: () => undefined,
        signal: never(),
        ...request,
      })
      return { counts, findings: findings.sort((a, b) => textOf(a).localeCompare(textOf(b))) }
    },
  }
}

function textOf({ kind, objectKey }: RebuildFinding): string {
  return kind + objectKey
}

/** Two versions of one millisecond have no order, so overwrites wait for the next. */
export async function uploadAfter(
  bed: VerifyBed,
  { userId, name, content }: { userId: UserId; name: string; content: string },
): Promise<string> {
  await setTimeout(2)
  return await bed.upload(userId, name, content)
}

/** The content of a file as its owner downloads it, or `undefined`. */
export async function contentIn(
  bed: VerifyBed,
  { userId, name }: { userId: UserId; name: string },
): Promise<string | undefined> {
  const file = await bed.ledger.findFile({ userId, name: parseFileName(name), audience: 'owner' })
  if (file === undefined) return undefined
  const opened = await bed.objects.open({ key: file.objectKey, signal: never() })
  return (await bytesOf(opened?.body)).toString()
}

const TABLES = ['files', 'history', 'garbage', 'quotas', 'users', 'leader_leases'] as const

/** Takes out of the empty database what a rebuild has put there. */
export async function emptyAgain({ kysely }: Database): Promise<void> {
  for (const table of TABLES) await kysely.deleteFrom(table).execute()
}

export interface Interruption {
  /** The call that is interrupted, counted from 0. */
  readonly at: number
  /** Whether the call has its effect before it is. */
  readonly afterEffect: boolean
}

/** The same ports, of which one call fails. `calls` tells how many there were. */
export function interrupted(
  { ledger, objects }: { readonly ledger: RebuildLedger; readonly objects: ObjectStore },
  { at, afterEffect }: Interruption,
): Required<Ports> & { readonly calls: () => number } {
  let calls = 0
  function wrap<A extends unknown[], R>(
    call: (...args: A) => Promise<R>,
    discard: (result: R) => void = () => undefined,
  ) {
    return async (...args: A): Promise<R> => {
      const isHit = calls++ === at
      if (isHit && !afterEffect) throw outage()
      const result = await call(...args)
      if (!isHit) return result
      discard(result)
      throw outage()
    }
  }
  return {
    calls: () => calls,
    ledger: {
      begin: wrap(() => ledger.begin()),
      isUnfinished: wrap(() => ledger.isUnfinished()),
      add: wrap((found) => ledger.add(found)),
      list: wrap((page) => ledger.list(page)),
      settle: wrap((versions) => ledger.settle(versions)),
      clear: wrap(() => ledger.clear()),
      finish: wrap(() => ledger.finish()),
    },
    objects: faultyStore(objects, {
      head: wrap((object) => objects.head(object)),
      open: wrap(
        (object) => objects.open(object),
        (opened) => streamOf(opened).destroy(),
      ),
      check: wrap((signal) => objects.check(signal)),
    }),
  }
}
