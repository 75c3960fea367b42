import { setTimeout } from 'node:timers/promises'
import * as fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { isAppError } from '../../../src/core/errors.ts'
import type { Finding } from '../../../src/core/verify/verify-run.ts'
import type { UserId } from '../../../src/core/users/user-id.ts'
import { verify } from '../../support/verify.ts'
import { ALICE, BOB, openBed, type OpenVerifyAdapters, type VerifyBed } from './fixture.ts'

interface Step {
  readonly operation: keyof typeof OPERATIONS
  readonly userId: UserId
  readonly name: string
  readonly newName: string
  readonly size: number
}

/** For a machine that has much else to do. */
const TIMEOUT_MS = 120_000

/** What users, administrators and the service do at once. */
const OPERATIONS = {
  upload: async (bed: VerifyBed, { userId, name, size }: Step) => {
    await bed.upload(userId, name, 'x'.repeat(size))
  },
  /** In two appends; every third is left unfinished, every third is cancelled. */
  resume: async (bed: VerifyBed, { userId, name, size }: Step) => {
    const uploads = await bed.uploadsOf(userId)
    const half = Math.floor(size / 2)
    const version = await uploads.begin(name, size, 'x'.repeat(half))
    if (size % 3 === 1) await bed.ledger.abort({ userId, version, endedAs: 'cancelled' })
    else
      await uploads.append(
        version,
        half,
        'x'.repeat(Math.max(0, size - half - (size % 3 === 0 ? 1 : 0))),
      )
  },
  remove: (bed: VerifyBed, { userId, name }: Step) => bed.remove(userId, name),
  rename: (bed: VerifyBed, { userId, name, newName }: Step) => bed.rename(userId, name, newName),
  suspend: async (bed: VerifyBed, { userId }: Step) => {
    await bed.users.setUserStatus(userId, 'suspended')
  },
  activate: async (bed: VerifyBed, { userId }: Step) => {
    await bed.users.setUserStatus(userId, 'active')
  },
  deleteUser: (bed: VerifyBed, { userId }: Step) => bed.users.deleteUser(userId),
  createUser: async (bed: VerifyBed, { userId }: Step) => {
    await bed.users.createUser(userId)
  },
  sweep: (bed: VerifyBed) => bed.sweep(),
}

const STEPS = fc.array(
  fc.record({
    operation: fc.oneof(
      { weight: 12, arbitrary: fc.constant<keyof typeof OPERATIONS>('upload') },
      { weight: 6, arbitrary: fc.constant<keyof typeof OPERATIONS>('resume') },
      { weight: 5, arbitrary: fc.constantFrom(...keysOf(OPERATIONS)) },
    ),
    userId: fc.constantFrom(ALICE, BOB),
    name: fc.constantFrom('a', 'b', 'c', 'd'),
    newName: fc.constantFrom('a', 'b', 'c', 'd'),
    size: fc.integer({ min: 0, max: 9000 }),
  }),
  { minLength: 20, maxLength: 80 },
)

/** A run beside everything else finds nothing that is not so, and repairs nothing wrong. */
export function verifyRaceSuite(
  name: string,
  { open, runs }: { readonly open: OpenVerifyAdapters; readonly runs: number },
): void {
  describe(`verify beside the service on ${name}`, () => {
    it(
      'never takes what is under way for a fault, and the figures never drift (I3, I4)',
      async () => {
        await fc.assert(
          fc.asyncProperty(STEPS, async (steps) => {
            const bed = await openBed(open)
            try {
              expect(await findingsBeside(bed, steps)).toEqual([])
              expect((await verify(bed, { readOneIn: 1 })).findings).toEqual([])
            } finally {
              await bed.close()
            }
          }),
          { numRuns: runs, endOnFailure: true },
        )
      },
      TIMEOUT_MS,
    )

    it(
      'mends figures exactly while uploads go on',
      async () => {
        await fc.assert(
          fc.asyncProperty(STEPS, async (steps) => {
            const bed = await openBed(open)
            try {
              await sql`UPDATE quotas SET used_bytes = 777, reserved_bytes = 77, file_count = 7`.execute(
                bed.database.kysely,
              )
              const found = await findingsBeside(bed, steps)
              expect(found.every(({ repaired }) => repaired)).toBe(true)
              expect((await verify(bed)).findings).toEqual([])
            } finally {
              await bed.close()
            }
          }),
          { numRuns: runs, endOnFailure: true },
        )
      },
      TIMEOUT_MS,
    )
  })
}

/** Takes the steps, several at a time, and meanwhile verifies again and again, repairing. */
async function findingsBeside(bed: VerifyBed, steps: readonly Step[]): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const done = new AbortController()
  async function keepVerifying(readOneIn: number | undefined): Promise<void> {
    while (!done.signal.aborted) {
      findings.push(...(await verify(bed, { repair: true, readOneIn })).findings)
      await setTimeout(1)
    }
  }
  const waiting = steps.values()
  async function work(): Promise<void> {
    for (const step of waiting) await take(bed, step)
  }
  const verifying = [keepVerifying(undefined), keepVerifying(2)]
  try {
    await Promise.all(Array.from({ length: 6 }, work))
  } finally {
    done.abort()
    await Promise.all(verifying)
  }
  return findings
}

/** Users can be refused, and a purge takes uploads away in the middle of their writing; no rule may be broken. */
async function take(bed: VerifyBed, step: Step): Promise<void> {
  try {
    await OPERATIONS[step.operation](bed, step)
  } catch (error) {
    if (!isAppError(error) || error.code === 'internal_error') throw error
  }
}

function keysOf<K extends string>(record: Readonly<Record<K, unknown>>): K[] {
  return Object.keys(record) as K[]
}
