import { expect, it, vi } from 'vitest'
import { createSessionGate } from '../../../web/user/session-gate.ts'
import { createSignIns, type TabMessage } from '../../../web/user/sign-ins.ts'

/** A tab that hears what the test tells it, and asks what the test answers, in any order. */
function openTab() {
  const gate = createSessionGate()
  const looks: PromiseWithResolvers<void>[] = []
  const heard: ((message: TabMessage) => void)[] = []
  const told: string[] = []
  const signIns = createSignIns({
    tabs: {
      tell: ({ kind }) => void told.push(kind),
      listen: (hear) => void heard.push(hear),
    },
    gate,
    look() {
      const answer = Promise.withResolvers<void>()
      looks.push(answer)
      return answer.promise
    },
    onSettled: () => undefined,
  })
  signIns.listen()
  const hear = (kind: TabMessage['kind']): void => heard[0]?.({ kind })
  const answer = async (at: number): Promise<void> => {
    looks[at]?.resolve()
    await new Promise(setImmediate)
  }
  return { gate, signIns, looks, told, hear, answer }
}

it('a sign-in in another tab holds back what is sent, until it is known who that was', async () => {
  const { gate, hear, answer } = openTab()
  hear('session_changing')
  expect(gate.isClosed()).toBe(true)
  hear('session')
  expect(gate.isClosed()).toBe(true)
  await answer(0)
  expect(gate.isClosed()).toBe(false)
})

it('a sign-in in this tab holds back what is sent, and tells the others before and after', async () => {
  const { gate, signIns, told } = openTab()
  const begun = signIns.begin()
  expect([gate.isClosed(), told]).toEqual([true, ['session_changing']])
  await begun
  signIns.end()
  expect([gate.isClosed(), told]).toEqual([false, ['session_changing', 'session']])
})

it('each of two sign-ins in this tab holds back what is sent until its own end', async () => {
  const { gate, signIns } = openTab()
  await Promise.all([signIns.begin(), signIns.begin()])
  signIns.end()
  expect(gate.isClosed()).toBe(true)
  signIns.end()
  expect(gate.isClosed()).toBe(false)
})

it('an answer from before another sign-in does not end what that holds back', async () => {
  const { gate, hear, answer } = openTab()
  hear('session')
  hear('session_changing')
  await answer(0)
  expect(gate.isClosed()).toBe(true)
  hear('session')
  await answer(1)
  expect(gate.isClosed()).toBe(false)
})

it('the last of several answers ends what is held back', async () => {
  const { gate, hear, answer } = openTab()
  hear('session_changing')
  hear('session')
  hear('session')
  await answer(0)
  expect(gate.isClosed()).toBe(true)
  await answer(1)
  expect(gate.isClosed()).toBe(false)
})

it('two tabs that sign in at once both have to end', async () => {
  const { gate, signIns, hear, answer } = openTab()
  hear('session_changing')
  hear('session_changing')
  await signIns.begin()
  hear('session')
  await answer(0)
  signIns.end()
  expect(gate.isClosed()).toBe(true)
  hear('session')
  await answer(1)
  expect(gate.isClosed()).toBe(false)
})

it('a tab that was closed while it signed in holds nothing back for ever', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  try {
    const { gate, looks, hear, answer } = openTab()
    hear('session_changing')
    vi.advanceTimersByTime(9_999)
    expect(looks).toEqual([])
    vi.advanceTimersByTime(1)
    await answer(0)
    expect(gate.isClosed()).toBe(false)
    // One that was reported in time is not asked for again.
    hear('session_changing')
    hear('session')
    await answer(1)
    vi.advanceTimersByTime(10_000)
    expect([looks.length, gate.isClosed()]).toEqual([2, false])
  } finally {
    vi.useRealTimers()
  }
})
