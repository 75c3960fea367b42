import {
  BASE_CAPACITY,
  HISTORY_LIFETIMES_MS,
  LEASE_MS,
  PART_SIZE,
  UPLOAD_LIFETIMES_MS,
} from './parameters.ts'
import { EVERY_FILE } from './names.ts'
import type { Plan, Scenarios, Step } from './plan.ts'
import { RESUMABLE_SCENARIOS } from './resumable-scenarios.ts'
import {
  act,
  batch,
  batched,
  device,
  later,
  LATER_MS,
  now,
  restore,
  retain,
  soon,
  upload,
} from './steps.ts'

/**
 * Short plans without chance, on two instances, that are played with every fault at every call and a crash at every
 * event.
 */
export const FILE_SCENARIOS: Scenarios = {
  'a new file': [now(upload())],
  'a file of several parts': [now(upload({ size: 3 * PART_SIZE }))],
  'a file without a length': [now(upload({ size: 2 * PART_SIZE, announced: 'nothing' }))],
  'an overwrite': [now(upload()), later(upload({ size: 20 }))],
  'an overwrite that is refused': [now(upload()), later(upload({ client: 'malformed' }))],
  'an overwrite that breaks off': [
    now(upload()),
    later(upload({ size: 3 * PART_SIZE, client: 'breaks off' })),
  ],
  'an overwrite beside an overwrite': [
    now(upload()),
    later(upload({ size: 20 })),
    now(upload({ size: 30, process: 1 })),
  ],
  'an overwrite beside a download': [
    now(upload()),
    later(upload({ size: 20 })),
    now(act('get', 1)),
  ],
  'an overwrite beside a removal': [
    now(upload()),
    later(upload({ size: 20 })),
    now(act('remove', 1)),
  ],
  'a removal and what it makes room for': [
    now(upload({ size: 300 })),
    later(act('remove', 0)),
    later(upload({ size: 300, file: 1 })),
  ],
  'more than fits, at once': [
    now(upload({ size: 250 })),
    now(upload({ size: 250, file: 1, process: 1 })),
  ],
  'a capacity that shrinks in the middle': [
    now({ kind: 'grant', user: 0, bytes: 400 }),
    now(upload({ size: 300 })),
    later(upload({ size: 300, file: 1 })),
    soon({ kind: 'grant', user: 0, bytes: 0 }),
  ],
  'a capacity that goes through all states': [
    now({ kind: 'grant', user: 0, bytes: 300 }),
    now(upload({ size: 300 })),
    now(upload({ size: 300, file: 1 })),
    later(upload({ size: 100, file: 2 })),
    later({ kind: 'grant', user: 0, bytes: 0 }),
    later(act('remove', 1)),
    later({ kind: 'rename', process: 0, user: 0, file: 1, to: 2, overwrite: true }),
    later(upload({ size: 60, process: 1 })),
  ],
  'an overwrite whose file goes while another takes its room': [
    now(upload({ size: 300 })),
    later(upload({ size: 300, client: 'slow' })),
    soon(act('remove', 1)),
    soon(upload({ size: 300, file: 1, process: 1 })),
  ],
  'a rename over a file': [
    now(upload()),
    now(upload({ size: 20, file: 1 })),
    later({ kind: 'rename', process: 0, user: 0, file: 0, to: 1, overwrite: true }),
  ],
  'a restore of what was deleted': [
    now(upload()),
    later(act('remove', 0)),
    later(restore()),
    later(act('remove', 1)),
    soon(restore({ process: 1 })),
  ],
  'a restore over the file that replaced it, beside a sweep': [
    now(upload()),
    later(upload({ size: 20 })),
    later({ kind: 'sweep', process: 1 }),
    soon(restore({ overwrite: true })),
    later({ kind: 'sweep', process: 0 }),
  ],
  'a restore for which there is no room': [
    now(upload({ size: 300 })),
    later(act('remove', 0)),
    later(upload({ size: 300, file: 1 })),
    later(restore()),
  ],
  'a batch of which only the end fits, beside an upload': [
    now(upload({ size: 300 })),
    later(act('remove', 0)),
    later(upload({ size: 300, file: 1 })),
    later(upload({ size: 20, file: 2 })),
    now(batch(batched('restore'), batched('remove', { file: 1 }))),
  ],
  'a batch that is refused at its end, beside another': [
    now(upload()),
    later(upload({ size: 20, file: 1 })),
    later(batch(batched('rename', { to: 2 }), batched('remove', { file: 3 }))),
    now(batch(batched('rename', { to: 3 }), batched('rename', { file: 1, to: 0 }))),
  ],
  'a folder that is moved while a file is uploaded to it': [
    now(upload({ file: 1 })),
    now(upload({ file: 4, size: 0 })),
    later(upload({ file: 1, size: 30 })),
    now(batch(batched('move'))),
    soon(batch(batched('move', { folder: 2, toFolder: 1, overwrite: true }))),
  ],
  'a folder that is moved onto another beside its deletion': [
    now(upload({ file: 1 })),
    now(upload({ file: 0, size: 30 })),
    later(batch(batched('move', { overwrite: true }))),
    now(batch(batched('clear', { folder: 0 }), batched('restore', { ignoresMissing: true }))),
  ],
  'a move of a folder that is refused at its end': [
    now(upload({ file: 1 })),
    now(upload({ file: 2, size: 20 })),
    later(batch(batched('move'), batched('move', { folder: 3 }))),
  ],
  'an upload that outlives its lease while another instance sweeps': [
    now(upload()),
    now({ kind: 'pause', process: 0, ms: 2 * LEASE_MS }),
    { after: LEASE_MS + 1, action: { kind: 'sweep', process: 1 } },
  ],
  'two uploads that evict at once': [
    now(upload({ size: 150 })),
    later(upload({ size: 150, file: 1 })),
    later(upload({ size: 200, file: 2, evict: EVERY_FILE })),
    now(upload({ size: 190, file: 3, evict: EVERY_FILE, process: 1 })),
  ],
  'an upload that evicts while its victim becomes kept': [
    now(upload({ size: 300 })),
    later(upload({ size: 240, file: 1, evict: EVERY_FILE })),
    soon(retain({ isKept: true, process: 1 })),
  ],
  'devices that evict for their shares': [
    now(device('camera-a', 250)),
    now(upload({ size: 100, deviceId: 'camera-b' })),
    later(upload({ size: 150, file: 1, deviceId: 'camera-a' })),
    later(upload({ size: 200, file: 2, deviceId: 'camera-a', evict: EVERY_FILE })),
    now(upload({ size: 120, file: 3, deviceId: 'camera-a', evict: EVERY_FILE, process: 1 })),
  ],
  'a device that takes the name of another one, and gets less': [
    now(device('camera-a', 150)),
    now(upload({ size: 100, deviceId: 'camera-a' })),
    later(upload({ size: 120, deviceId: 'camera-b' })),
    later(upload({ size: 140, file: 1, deviceId: 'camera-a', client: 'slow' })),
    soon(device('camera-a', 90)),
    later(restore({ overwrite: true })),
  ],
  'a file that expires, its name and its sweep': [
    now(upload({ size: 200, expiresInMs: 2 * LATER_MS })),
    { after: 3 * LATER_MS, action: upload({ size: 300, demands: 'no file', process: 1 }) },
    now({ kind: 'sweep', process: 0 }),
  ],
  'a sweep of garbage': [
    now(upload()),
    later(upload({ size: 20 })),
    { after: 20 * LEASE_MS, action: { kind: 'sweep', process: 0 } },
  ],
  'a user who is deleted in the middle': [
    now(upload()),
    later(upload({ size: 20 })),
    now({ kind: 'delete user', user: 0 }),
    later({ kind: 'sweep', process: 1 }),
  ],
  'a user who is made again while an upload of the one before is held up': [
    now(upload({ demands: 'no file' })),
    now({ kind: 'pause', process: 0, ms: LEASE_MS }),
    later({ kind: 'delete user', user: 0 }),
    soon({ kind: 'sweep', process: 1 }),
    later({ kind: 'activate', user: 0 }),
  ],
}

export const SCENARIOS: Scenarios = { ...FILE_SCENARIOS, ...RESUMABLE_SCENARIOS }

/** The plan of a scenario; without faults unless they are given. */
export function planOfScenario(
  steps: readonly Step[],
  faults: Pick<Plan, 'crashAfter'> & Partial<Pick<Plan, 'plannedFaults'>> = {},
): Plan {
  const chance = { seed: 1, processes: 2, skews: [], faultRate: 0, sweepsMeet: false }
  const baseCapacity = BASE_CAPACITY
  const [, uploadLifetimeMs] = UPLOAD_LIFETIMES_MS
  const [, historyLifetimeMs] = HISTORY_LIFETIMES_MS
  const lifetimes = { uploadLifetimeMs, historyLifetimeMs }
  return { ...chance, ...lifetimes, baseCapacity, plannedFaults: [], steps, ...faults }
}
