import * as fc from 'fast-check'

const WEIGHTS = {
  create: 5,
  prepare: 4,
  claim: 3,
  tail: 5,
  part: 2,
  seal: 2,
  renew: 2,
  whole: 4,
  fence: 1,
  abort: 2,
  expire: 2,
  finish: 3,
  endFinish: 1,
  commit: 2,
  put: 1,
  remove: 1,
  grant: 1,
  advance: 1,
} as const

type Kind = keyof typeof WEIGHTS

const weighted = Object.entries(WEIGHTS).map(([kind, weight]) => {
  return { weight, arbitrary: fc.constant(kind as Kind) }
})

export const operations = fc.array(
  fc.record({
    kind: fc.oneof(...weighted),
    /** The upload or claim, counted from the last one. */
    target: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(4) }),
    name: fc.constantFrom('a', 'a/b', 'c d/\u00fc %?#'),
    bytes: fc.oneof(fc.nat(60), fc.constantFrom(0, 1, 100, 101)),
    flag: fc.boolean(),
    other: fc.integer({ min: 0, max: 3 }),
  }),
  { minLength: 20, maxLength: 60, size: 'max' },
)

export type Operation = typeof operations extends fc.Arbitrary<(infer O)[]> ? O : never

/** Kinds with what they come to. Without each of these the property would show little. */
export const ALL_OUTCOMES = [
  'create ok',
  'create unfinished_uploads_exceeded',
  'create capacity_exceeded',
  'prepare ok',
  'prepare upload_gone',
  'prepare invalid_parameter',
  'commit ok',
  'claim true',
  'claim false',
  'finish true',
  'finish false',
  'seal true',
  'tail true',
  'part true',
  'part false',
  'renew true',
  'renew false',
  'abort aborted',
  'abort forgotten',
  'expire undefined',
]
