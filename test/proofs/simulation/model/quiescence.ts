import { startNamed } from '../world/client.ts'
import { sweep } from './conduct.ts'
import {
  BELIEVED_MS,
  CLOCK_JUMPS_MS,
  GARBAGE_DELAY_MS,
  HISTORY_LIFETIMES_MS,
  LEASE_MS,
  MAX_FILE_SIZE,
  RETENTION_MS,
  TAIL_GRACE_MS,
} from '../plan/parameters.ts'
import { startAppend } from '../world/resumable-client.ts'
import { isCommitted } from './model-upload.ts'
import { isUnsafe } from './resumable-changes.ts'
import type { Operation } from '../plan/operation.ts'
import { demand } from './violation.ts'
import type { World } from '../world/world.ts'

const MOST_HISTORY_MS = Math.max(...HISTORY_LIFETIMES_MS)

/** More events than any plan needs to come to rest. */
const MAX_EVENTS = 50_000

/**
 * The end of a run: faults stop, everything under way ends, and two sweeps later nothing is left but files (I8), all
 * of which can be read (I1).
 */
export async function comeToRest(world: World, step: () => Promise<boolean>): Promise<void> {
  const { faults, instances, timeline } = world
  faults.stop()
  for (const { process } of instances) process.pausedUntil = 0
  if (world.clock.hasJumped()) world.clock.set(0)
  await drain(step)
  assertEverythingEnded(world)
  await finishUploads(world, step)
  if (world.clock.hasJumped()) await believeClock(world, step)
  for (let sweeps = 0; sweeps < 2; sweeps++) {
    timeline.now += LEASE_MS + GARBAGE_DELAY_MS + RETENTION_MS + TAIL_GRACE_MS
    timeline.now += world.uploadLifetimeMs + MOST_HISTORY_MS
    const instance = instances[sweeps % instances.length]
    if (instance !== undefined) {
      timeline.add({ after: 0, label: 'last sweeps', run: () => sweep(world, instance) })
    }
    await drain(step)
  }
  assertNothingLeft(world)
  await readEverything(world, step)
}

/** What was written while the clock was ahead is past, and the right time is believed. */
async function believeClock(world: World, step: () => Promise<boolean>): Promise<void> {
  const { instances, timeline } = world
  const [instance] = instances
  if (instance === undefined) return
  for (let sweeps = 0; sweeps < 2; sweeps++) {
    timeline.now += Math.max(...CLOCK_JUMPS_MS) + BELIEVED_MS
    timeline.add({
      after: 0,
      label: 'sweeps until the clock is believed',
      run: () => sweep(world, instance),
    })
    await drain(step)
  }
}

/** Half of the clients return: each can finish its upload, or learns why not (I11). The other uploads expire. */
async function finishUploads(world: World, step: () => Promise<boolean>): Promise<void> {
  const { instances, model, random } = world
  for (const [index, upload] of model.knownUploads.toReversed().entries()) {
    const instance = instances[index % instances.length]
    if (upload.state !== 'pending' || instance === undefined || random.chance(0.5)) continue
    const finish = () => startAppend(world, { ...LAST_APPEND, upload: index }, instance)
    let answer = await answerTo(world, { ask: finish, step })
    // A late renewal of an earlier claim may hold it a while longer.
    if (answer === 'unknown') answer = await answerTo(world, { ask: finish, step })
    const isUnsure = answer === 'unknown' && isUnsafe(upload, model.damagedKeys)
    const isFinished = answer === 'done' && isCommitted(upload)
    demand(isFinished || isUnsure || answer === 'refused', 'I11', `${upload.version} is ${answer}`)
  }
}

interface Ask {
  readonly ask: () => void
  readonly step: () => Promise<boolean>
}

async function answerTo(
  { operations, timeline }: World,
  { ask, step }: Ask,
): Promise<Operation['answer'] | undefined> {
  const first = operations.length
  timeline.now += LEASE_MS
  timeline.add({ after: 0, label: 'last appends', run: ask })
  await drain(step)
  return operations[first]?.answer
}

/** Asks for the offset and sends the rest. */
const LAST_APPEND = {
  kind: 'append',
  process: 0,
  bytes: MAX_FILE_SIZE,
  asks: true,
  isSized: true,
  declares: true,
  client: 'well',
  checksum: 'none',
  isForeign: false,
  twin: 'none',
} as const

async function readEverything(world: World, step: () => Promise<boolean>): Promise<void> {
  const { instances, model, operations, timeline } = world
  const [instance] = instances
  if (instance === undefined) return
  model.userIds().forEach((userId, user) => {
    for (const name of model.user(userId).files.keys()) {
      const action = { kind: 'get', process: 0, user, file: 0 } as const
      const run = (): void => startNamed({ world, instance, fileName: name }, action)
      timeline.add({ after: 0, label: 'last reads', run })
    }
  })
  const readsFrom = operations.length
  await drain(step)
  for (const { answer } of operations.slice(readsFrom)) {
    demand(answer === 'done' || answer === 'refused', 'I1', `a read at rest is ${answer}`)
  }
}

/** Until there is nothing left to happen. */
export async function drain(step: () => Promise<boolean>): Promise<void> {
  let events = 0
  while (await step()) demand((events += 1) < MAX_EVENTS, 'I9', 'something never ends')
}

/** Every client has been answered, and every body closed (I9). */
function assertEverythingEnded({ operations, instances }: World): void {
  for (const { id, action, answer } of operations) {
    demand(answer !== 'none yet', 'I9', `${action.kind}#${id} was never answered`)
  }
  const bodies = instances.flatMap(({ gate }) => gate.bodies)
  demand(
    bodies.every((body) => body.destroyed),
    'I9',
    'the body of a download was never closed',
  )
}

function assertNothingLeft({ bucket, ledgerReader, strays, timeline }: World): void {
  const { files, history, uploads, garbage, quotas, pieces } = ledgerReader.read()
  const referenced = new Set<string>(files.map((file) => file.object_key))
  const expired = files.filter((file) => file.expires_at <= timeline.now)
  demand(expired.length === 0, 'I8', `${expired.length} files that have expired`)
  const orphans = [...bucket.objects.keys()].filter((key) => !referenced.has(key))
  demand(orphans.length === 0, 'I8', `objects of no file: ${orphans.join()}`)
  // A creation whose answer was lost is repeated, and the first attempt can reach the store after the file was
  // committed and its open uploads were ended. Nobody knows of it, but it holds no bytes: the removal of the file ends
  // it, or the store's own rule for abandoned uploads (docs/storage.md). With parts, or of no file, it would be a leak.
  const open = [...bucket.uploads].flatMap(([id, { key, parts }]) =>
    strays.has(id) && parts.size === 0 && referenced.has(key) ? [] : [key],
  )
  demand(open.length === 0, 'I8', `open multipart uploads: ${open.join()}`)
  demand(uploads.length === 0, 'I8', `${uploads.length} uploads in the journal`)
  demand(pieces.length === 0, 'I8', `${pieces.length} pieces of no upload`)
  demand(garbage.length === 0, 'I8', `${garbage.length} keys in the garbage`)
  demand(history.length === 0, 'I8', `${history.length} past versions`)
  const reserved = quotas.filter((quota) => quota.reserved_bytes !== 0)
  demand(reserved.length === 0, 'I8', `${reserved.length} users with reserved bytes`)
}
