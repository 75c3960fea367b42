import fc from 'fast-check'
import { plans } from './plan.ts'
import { simulate } from './simulate.ts'
import { openStage } from './stage.ts'
await using stage = await openStage()
const n = Number(process.argv[2] ?? 20)
const first = Number(process.argv[3] ?? 1)
const started = process.hrtime.bigint()
let events = 0, bad = 0
const answers = new Map<string, number>()
for (let seed = first; seed < first + n; seed++) {
  const [plan] = fc.sample(plans, { seed, numRuns: 1, unbiased: true })
  if (!plan) continue
  const run = await simulate(plan, { stage })
  events += run.events
  if (process.env.TWICE) { const again = await simulate(plan, { stage }); if (again.log.join('\n') !== run.log.join('\n')) { const at = run.log.findIndex((l, i) => l !== again.log[i]); console.log('DIFF', seed, at, run.log[at], '|', again.log[at]) } }
  for (const l of run.log) { const m = /(\w+)#\d+: (ends|is told) ?:? ?(.*)$/.exec(l); if (m) { const k = `${m[1]} ${m[3]}`; answers.set(k, (answers.get(k) ?? 0) + 1) } }
  if (run.violation !== undefined) { bad++; if (bad <= Number(process.env.SHOW ?? 3)) { console.log('SEED', seed, run.violation); console.log(run.log.slice(-Number(process.env.TAIL ?? 12)).join('\n')) } else console.log('SEED', seed, String(run.violation).slice(0, 200)) }
}
const s = Number(process.hrtime.bigint() - started) / 1e9
console.log({ n, bad, events, runsPerS: n / s, eventsPerS: events / s }, Object.fromEntries([...answers].sort()))
