import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { File } from '../../../src/core/files/file.ts'
import { isMet, type Precondition } from '../../../src/core/files/precondition.ts'
import type { Version } from '../../../src/core/objects/object-key.ts'
import { expectedBy } from '../../../src/database/uploads/expected-file.ts'

const tag = fc.constantFrom('', '*', 'v1', 'v2')
const tags = fc.oneof(fc.constant('*' as const), fc.array(tag, { maxLength: 3 }))
const time = fc.constantFrom(0, 999, 1_000, 5_000)
const precondition: fc.Arbitrary<Precondition | undefined> = fc.option(
  fc.record({ ifMatch: tags, ifNoneMatch: tags, ifUnmodifiedSince: time }, { requiredKeys: [] }),
  { nil: undefined },
)
const file = fc.option(fc.record({ version: fc.constantFrom('v1', 'v2'), updatedAt: time }), {
  nil: undefined,
})

describe('the version that a statement expects', () => {
  it('is there exactly where the precondition is met, of every precondition that has one', () => {
    const seen = new Set<unknown>()
    fc.assert(
      fc.property(precondition, file, (demanded, there) => {
        const expected = expectedBy({ precondition: demanded })
        seen.add(expected)
        if (expected === undefined) return
        // As the statement compares it: `old_version = COALESCE(expected, old_version)`.
        const oldVersion = there?.version ?? ''
        const isThere = oldVersion === (expected ?? oldVersion)
        const met = demanded === undefined || isMet(demanded, there && fileOf(there))
        expect({ demanded, there, met: isThere }).toEqual({ demanded, there, met })
      }),
      { numRuns: 2_000 },
    )
    // Or the property would show little.
    expect(seen).toEqual(new Set([undefined, null, '', '*', 'v1', 'v2']))
  })
})

function fileOf({ version, updatedAt }: { readonly version: string; readonly updatedAt: number }) {
  return { version: version as Version, updatedAt } as File
}
