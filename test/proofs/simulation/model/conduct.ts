import { isAppError } from '../../../../src/core/errors.ts'
import { DEVICE } from '../../../../src/core/quota/grants.ts'
import type { UserId } from '../../../../src/core/users/user-id.ts'
import { startOperation, userIdOf } from '../world/client.ts'
import { startAppend, startCreation, startNamed } from '../world/resumable-client.ts'
import { MAX_ZOMBIE_MS } from '../plan/parameters.ts'
import type { Action } from '../plan/plan.ts'
import type { Process } from '../world/timeline.ts'
import { record } from './feed.ts'
import { nextDate } from './model.ts'
import { demand } from './violation.ts'
import { type Instance, startInstance, type World } from '../world/world.ts'

/** Lets one action of a plan begin. */
export async function conduct(world: World, action: Action): Promise<void> {
  switch (action.kind) {
    case 'grant':
    case 'device':
    case 'remove device':
    case 'suspend':
    case 'activate':
    case 'delete user':
      return administer(world, action)
    case 'crash':
      return crash(world, action.process)
    case 'pause':
      instanceAt(world, action.process).process.pausedUntil = world.timeline.now + action.ms
      return
    case 'clock':
      return world.clock.set(action.ms)
    case 'sweep':
      return sweep(world, instanceAt(world, action.process))
    case 'upload':
    case 'get':
    case 'stat':
    case 'list':
    case 'remove':
    case 'rename':
    case 'batch':
    case 'restore':
    case 'retain':
      startOperation(world, action, instanceAt(world, action.process))
      return
    case 'create':
      startCreation(world, action, instanceAt(world, action.process))
      return
    case 'append': {
      const { twin, process } = action
      startAppend(world, action, instanceAt(world, process))
      if (twin === 'none') return
      const second = { ...action, asks: false, isForeign: twin === 'foreign' }
      startAppend(world, second, instanceAt(world, process + 1))
      return
    }
    case 'head':
    case 'cancel':
      startNamed(world, action, instanceAt(world, action.process))
  }
}

/** Kills an instance in the middle of whatever it does, and starts another in its place. */
export function crash(world: World, index: number): void {
  const { instances, timeline, random } = world
  const { process } = instanceAt(world, index)
  process.alive = false
  timeline.note(`${process.name} dies`)
  if (random.chance(0.5)) timeline.delayOutside(process, random.below(MAX_ZOMBIE_MS / 2))
  for (const operation of world.operations) {
    if (operation.answer === 'none yet' && operation.process === process)
      operation.answer = 'unknown'
  }
  const name = `${process.name}'`
  const next: Process = { name, alive: true, pausedUntil: 0, skewMs: process.skewMs }
  instances[index % instances.length] = startInstance(world, next)
}

/** Has an instance sweep. What it can't do is no fault; what it should not do the checker sees. */
export function sweep({ timeline, report }: World, { process, sweeper }: Instance): void {
  timeline.runAs({ process, name: 'sweep', operation: undefined }, () => {
    sweeper.sweep(new AbortController()).catch((error: unknown) => {
      try {
        demand(isAppError(error, 'unavailable'), 'X', `a sweep failed with ${String(error)}`)
      } catch (violation) {
        report(violation)
      }
    })
  })
}

function instanceAt({ instances }: World, index: number): Instance {
  const instance = instances[index % instances.length]
  if (instance === undefined) throw new TypeError('A run has an instance')
  return instance
}

async function administer(
  { users, model, clock }: World,
  action: GrantAction | Extract<Action, { readonly kind: 'suspend' | 'activate' | 'delete user' }>,
): Promise<void> {
  const userId = userIdOf(action.user)
  const isDeleted = model.user(userId).status === 'deleted'
  if (action.kind === 'activate' && isDeleted) {
    // A deleted user's id is free again once all of it has been purged.
    const made = await users.createUser(userId).catch(() => undefined)
    if (made?.created) model.create(made.user)
    return
  }
  if (isDeleted) return
  switch (action.kind) {
    case 'grant':
    case 'device':
    case 'remove device': {
      await grant(users, userId, action)
      const at = nextDate(model.user(userId), () => clock.now())
      if (action.kind === 'grant') model.setGranted(userId, action.bytes)
      else model.setDevice(userId, action.deviceId, action.kind === 'device' ? action : undefined)
      return record(model, { userId, events: [], at })
    }
    case 'suspend':
    case 'activate': {
      const status = action.kind === 'suspend' ? 'suspended' : 'active'
      await users.setUserStatus(userId, status)
      return model.setStatus(userId, status)
    }
    case 'delete user':
      await users.deleteUser(userId)
      return model.setStatus(userId, 'deleted')
  }
}

type GrantAction = Extract<Action, { readonly kind: 'grant' | 'device' | 'remove device' }>

async function grant(users: World['users'], userId: UserId, action: GrantAction): Promise<void> {
  const [source, reference] =
    action.kind === 'grant' ? ['simulation', '1'] : [DEVICE, action.deviceId]
  if (action.kind === 'remove device') return users.revokeGrant({ userId, source, reference })
  const { bytes } = action
  const share = action.kind === 'device' ? action.share : undefined
  const terms = { bytes, share, model: undefined, startsAt: undefined, endsAt: undefined }
  await users.putGrant({ userId, source, reference, ...terms })
}
