import { describe, expect, it } from 'vitest'
import { type Ending, Offsets } from './offsets.ts'

const MINUTE_MS = 60_000

function create({ isContended = false } = {}) {
  let passedMs = 0
  let leapMs = 0
  let isCompletionCut = false
  const offsets = new Offsets({
    length: 1000,
    passedMs: () => passedMs,
    begunMs: () => passedMs + leapMs,
    isContended,
    isCompletionCut: () => isCompletionCut,
  })
  return {
    offsets,
    /** As after an append of the bytes up to there. */
    reach: (offset: number) => {
      offsets.sending(offset)
      return offsets.judge(offset, offsets.ask())
    },
    pass: (minutes: number) => void (passedMs += minutes * MINUTE_MS),
    beginToPass: (minutes: number) => void (leapMs = minutes * MINUTE_MS),
    cutCompletion: () => void (isCompletionCut = true),
  }
}

describe('the oracle of offsets', () => {
  it('accepts offsets that grow with what was sent', () => {
    const { offsets, reach } = create()
    expect([reach(100), reach(100), reach(1000)]).toEqual([undefined, undefined, undefined])
    expect(offsets.reported).toBe(1000)
  })

  it('sees an offset that shrinks', () => {
    const { offsets, reach } = create()
    reach(100)
    expect(offsets.judge(99, offsets.ask())).toBe('the offset shrank from 100 to 99')
  })

  it('holds a late response against what was known when its request was sent', () => {
    const { offsets, reach } = create()
    reach(100)
    const asked = offsets.ask()
    reach(200)
    expect(offsets.judge(100, asked)).toBeUndefined()
    expect(offsets.judge(100, offsets.ask())).toBe('the offset shrank from 200 to 100')
  })

  it('sees an offset beyond what was sent, or none at all', () => {
    const { offsets } = create()
    offsets.sending(100)
    expect(offsets.judge(101, offsets.ask())).toMatch('only 100 bytes were sent')
    expect(offsets.judge(Number.NaN, offsets.ask())).toMatch('no number')
  })

  it('accepts that an upload expired by a leap that had begun before it, and was not over', () => {
    const { offsets, beginToPass } = create()
    expect(offsets.judgeEnd('expired')).toBeDefined()
    beginToPass(16)
    expect(offsets.judgeEnd('expired')).toBeUndefined()
  })

  it.each<Ending>(['finished', 'cancelled', 'expired', 'lost', 'unknown'])(
    'sees acknowledged bytes that ended as %s',
    (ending) => {
      const { offsets, reach } = create()
      reach(100)
      expect(offsets.judgeEnd(ending)).toBe(`100 acknowledged bytes of 1000 ended as ${ending}`)
    },
  )

  it('accepts that an upload is finished when all bytes were sent', () => {
    const { offsets } = create()
    offsets.sending(1000)
    expect(offsets.judgeEnd('finished')).toBeUndefined()
  })

  it('accepts that an upload is cancelled once its client has asked for that', () => {
    const { offsets, reach } = create()
    reach(100)
    offsets.cancelling()
    expect([offsets.judgeEnd('cancelled'), offsets.judgeEnd('unknown')]).toEqual([
      undefined,
      undefined,
    ])
  })

  it('accepts that an empty upload is lost, or expires after minutes', () => {
    const { offsets, pass } = create()
    expect(offsets.judgeEnd('lost')).toBeUndefined()
    expect(offsets.judgeEnd('expired')).toBeDefined()
    pass(11)
    expect(offsets.judgeEnd('expired')).toBeUndefined()
  })

  it('accepts that an upload expires an hour after its last progress, and not before', () => {
    const { offsets, reach, pass } = create()
    pass(50)
    reach(100)
    pass(50)
    expect(offsets.judgeEnd('expired')).toBeDefined()
    pass(11)
    expect(offsets.judgeEnd('expired')).toBeUndefined()
    expect(offsets.judgeEnd('unknown')).toBeUndefined()
  })

  it('counts that hour from the append, even if its response was lost and the offset is read later', () => {
    const { offsets, pass } = create()
    offsets.sending(100)
    pass(50)
    offsets.judge(100, offsets.ask())
    pass(11)
    expect(offsets.judgeEnd('expired')).toBeUndefined()
  })

  it('accepts that nothing is known of a finished upload whose file another client has replaced', () => {
    const { offsets } = create({ isContended: true })
    offsets.sending(1000)
    offsets.judge(500, offsets.ask())
    expect(offsets.judgeEnd('unknown')).toBeUndefined()
    expect(offsets.judgeEnd('lost')).toBeDefined()
  })

  it('accepts that a store loses the parts of a completion that was cut off', () => {
    const { offsets, reach, cutCompletion } = create()
    cutCompletion()
    reach(500)
    expect(offsets.judgeEnd('lost')).toBeDefined()
    offsets.sending(1000)
    expect(offsets.judgeEnd('lost')).toBeUndefined()
  })
})
