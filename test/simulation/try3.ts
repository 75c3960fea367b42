import { PLANTED_BUGS } from './planted.ts'
import { search } from './search.ts'
import { openStage } from './stage.ts'
await using stage = await openStage()
for (const [name, variant] of Object.entries(PLANTED_BUGS)) {
  if (process.argv[2] && !name.includes(process.argv[2])) continue
  const counts: number[] = []
  let last = ''
  for (const firstSeed of [1, 5000, 9000]) {
    const { runs, found } = await search({ stage, variant, firstSeed, goesOn: (n) => n < 150 })
    counts.push(found ? runs : -1)
    if (found) last = String(found.run.violation).split('\n')[0]
  }
  console.log(name, counts, last)
}
