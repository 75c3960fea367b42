import { PART_SIZE } from './parameters.ts'
import type { Scenarios, Step } from './plan.ts'
import { append, create, later, LATER_MS, now, soon, upload } from './steps.ts'

const DAY_MS = 24 * 60 * 60_000

/** Those of resumable uploads. */
export const RESUMABLE_SCENARIOS: Scenarios = {
  'a resumable upload in one append': [now(create()), later(append())],
  'a small resumable upload that is sent twice': [
    now(create()),
    later(append({ isSized: true })),
    later(append({ process: 1, isSized: true, asks: true })),
  ],
  'a resumable upload in appends of several parts': [
    now(create({ size: 3 * PART_SIZE })),
    later(append({ bytes: PART_SIZE + 1 })),
    later(append({ process: 1, bytes: 10 })),
    later(append()),
  ],
  'a small resumable upload of which too much is sent at first': [
    now(create()),
    later(append({ client: 'sends too much', isSized: false })),
    later(append({ process: 1, bytes: 4 })),
    later(append({ asks: true })),
  ],
  'a resumable upload without a length': [
    now(create({ size: 80, isDeferred: true })),
    later(append({ bytes: 70 })),
    later(append({ process: 1, declares: true })),
  ],
  'a resumable upload that is created with content over a file': [
    now(upload()),
    later(create({ size: 2 * PART_SIZE, bytes: 70 })),
    later(append({ asks: true })),
  ],
  'a resumable upload that a client comes back to': [
    now(create({ size: 2 * PART_SIZE })),
    later(append({ client: 'stalls' })),
    soon(append({ process: 1, asks: true })),
  ],
  'two appends at one offset': [
    now(create({ size: 100 })),
    later(append({ bytes: 40 })),
    later(append({ twin: 'foreign' })),
  ],
  'a resumable upload that is cancelled in an append': [
    now(create({ size: 100 })),
    later(append({ bytes: 40 })),
    later(append()),
    soon({ kind: 'cancel', process: 1, upload: 0 }),
  ],
  'a resumable upload that expires': [
    now(create({ size: 100 })),
    later(append({ bytes: 40 })),
    { after: 2 * DAY_MS, action: { kind: 'sweep', process: 1 } },
    later({ kind: 'head', process: 0, upload: 0 }),
  ],
}

/** How far apart requests begin: from at once to when the first append has ended, in milliseconds. */
const MOMENTS = Array.from({ length: 12 }, (_, at) => at * 25)

/**
 * Two appends at one offset, a HEAD and a sweep, with every choice of the moments at which they begin. The second
 * append sends the same bytes or others.
 */
export const INTERLEAVINGS: readonly (readonly Step[])[] = MOMENTS.flatMap((second) =>
  MOMENTS.flatMap((head) => [false, true].map((isForeign) => meeting({ second, head, isForeign }))),
)

interface Meeting {
  /** Milliseconds after the first append, as `head`. */
  readonly second: number
  readonly head: number
  readonly isForeign: boolean
}

function meeting({ second, head, isForeign }: Meeting): readonly Step[] {
  const requests = [
    { at: 0, action: append() },
    { at: second, action: append({ process: 1, isForeign }) },
    { at: head, action: { kind: 'head', process: head % 2, upload: 0 } as const },
    { at: head, action: { kind: 'sweep', process: 1 } as const },
  ].toSorted((a, b) => a.at - b.at)
  const steps = requests.map(({ at, action }, index) => {
    const before = requests[index - 1]?.at ?? -LATER_MS
    return { after: at - before, action }
  })
  return [now(create({ size: 2 * PART_SIZE })), later(append({ bytes: 40 })), ...steps]
}
