import { spreadOf } from './statistics.ts'

/** In milliseconds; taken in turns, so that what else the machine does meets all alike. */
export async function mediansOf(
  rounds: number,
  works: readonly (() => Promise<unknown>)[],
): Promise<number[]> {
  const times = works.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, work] of works.entries()) {
      const started = performance.now()
      await work()
      times[index]?.push(performance.now() - started)
    }
  }
  return times.map((each) => spreadOf(each)?.median ?? 0)
}
