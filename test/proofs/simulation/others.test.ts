import { expect, it } from 'vitest'
import { planOfScenario, SCENARIOS } from './plan/scenarios.ts'
import { simulate } from './simulate.ts'
import { openStage } from './world/stage.ts'

/** In a process that several test files share, code of one before can still run. */
it('leaves the timers of code outside it to their own time, also one that never ends', async () => {
  await using stage = await openStage()
  let isOver = false
  let ticks = 0
  const outside = new Promise<void>((resolve) => {
    setImmediate(function look() {
      if (Date.now() < Date.UTC(2029)) return void setImmediate(look)
      const timer = setInterval(() => {
        ticks += 1
        if (!isOver) return
        clearInterval(timer)
        resolve()
      }, 1)
    })
  })
  const [steps = []] = Object.values(SCENARIOS)
  const { violation } = await simulate(planOfScenario(steps), { stage })
  isOver = true
  await outside
  expect(violation).toBeUndefined()
  expect(ticks).toBeGreaterThan(0)
})
