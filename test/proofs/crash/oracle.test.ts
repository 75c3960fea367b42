import { describe, expect, it } from 'vitest'
import { ABSENT, Oracle } from './oracle.ts'

const GRACE_MS = 100

/** An oracle whose clock moves by one with every write that begins or ends. */
function create() {
  let now = 0
  const oracle = new Oracle(() => now++)
  const begin = (content: string) => oracle.begin('f', [content])
  /** What a read that begins now may find. */
  const allowed = () => [...oracle.allowed('f', now)].toSorted()
  return { oracle, begin, allowed, wait: (ms: number) => void (now += ms), now: () => now }
}

describe('the oracle allows', () => {
  it('nothing but absence before the first write', () => {
    expect(create().allowed()).toEqual([ABSENT])
  })

  it('what was acknowledged, and nothing that it replaced', () => {
    const { begin, allowed } = create()
    begin('old').acknowledge()
    begin('new').acknowledge()
    expect(allowed()).toEqual(['new'])
  })

  it('what a read can still find that began before the write ended', () => {
    const { oracle, begin, now } = create()
    begin('old').acknowledge()
    const startedAt = now()
    begin('new').acknowledge()
    expect(oracle.judge({ file: 'f', content: 'old', startedAt })).toBeUndefined()
  })

  it('what stood and what came, while a write runs', () => {
    const { begin, allowed } = create()
    begin('old').acknowledge()
    begin('new')
    expect(allowed()).toEqual(['new', 'old'])
  })

  it('nothing of a write that was refused', () => {
    const { begin, allowed } = create()
    begin('new').refuse()
    expect(allowed()).toEqual([ABSENT])
  })

  it('either of two writes that ran at once', () => {
    const { begin, allowed } = create()
    const [one, two] = [begin('one'), begin('two')]
    one.acknowledge()
    two.acknowledge()
    expect(allowed()).toEqual(['one', 'two'])
  })

  it('before and after of a write of which nobody knows', () => {
    const { begin, allowed } = create()
    begin('old').acknowledge()
    begin('new').lose(GRACE_MS)
    expect(allowed()).toEqual(['new', 'old'])
  })

  it('that write no longer once it was over and another was acknowledged', () => {
    const { begin, allowed, wait } = create()
    begin('lost').lose(GRACE_MS)
    begin('soon').acknowledge()
    expect(allowed()).toEqual(['lost', 'soon'])
    wait(GRACE_MS)
    begin('later').acknowledge()
    expect(allowed()).toEqual(['later'])
  })

  it('of a rename only what it turned out to have moved', () => {
    const { oracle, allowed } = create()
    oracle.begin('f', ['one', 'two']).acknowledge('two')
    expect(allowed()).toEqual(['two'])
  })

  it('the same after many writes, of which it has forgotten most', () => {
    const { begin, allowed, wait } = create()
    for (let write = 0; write < 200; write++) {
      begin(`content ${write}`).acknowledge()
      wait(10_000)
    }
    begin('lost').lose(GRACE_MS)
    expect(allowed()).toEqual(['content 199', 'lost'])
  })
})

it('says what a read has found in place of what', () => {
  const { oracle, begin, now } = create()
  begin('new').acknowledge()
  const read = { file: 'f', content: ABSENT, startedAt: now() }
  expect(oracle.judge(read)).toBe('f holds absent in place of new')
})
