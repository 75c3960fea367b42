import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Seconds that the files above a hundred took on two cores, in November 2026. */
const SLOW_FILES: Readonly<Record<string, number>> = {
  'test/proofs/simulation/exhaustive.proof.test.ts': 290,
  'test/proofs/simulation/exhaustive-rest.proof.test.ts': 290,
  'test/proofs/faults/clock.proof.test.ts': 390,
  'test/compose/compose.proof.test.ts': 310,
  'test/proofs/crash/resumable/kills.proof.test.ts': 260,
  'test/proofs/cluster/minio.proof.test.ts': 250,
  'test/clients/resumable/production.proof.test.ts': 280,
  'test/web/film.proof.test.ts': 190,
  'test/web/resumable.proof.test.ts': 190,
  'test/proofs/simulation/planted.proof.test.ts': 190,
  'test/proofs/simulation/planted-history.proof.test.ts': 190,
  'test/clients/package/package.proof.test.ts': 210,
  'test/clients/python/python.proof.test.ts': 175,
  'test/database/postgres/steps.proof.test.ts': 190,
  'test/clients/resumable/embedded.proof.test.ts': 160,
  'test/proofs/hostile/heavy-user.proof.test.ts': 140,
  'test/proofs/crash/crash.proof.test.ts': 160,
  'test/clients/inert-downloads.proof.test.ts': 150,
  'test/proofs/faults/network.proof.test.ts': 130,
  'test/proofs/hostile/short-memory.proof.test.ts': 120,
  'test/web/story.proof.test.ts': 120,
  'test/proofs/crash/resumable/planted.proof.test.ts': 110,
  'test/proofs/simulation/random.proof.test.ts': 180,
  'test/clients/clients.proof.test.ts': 110,
}

/** About as long as another file takes. */
const OTHER_SECONDS = 35

/**
 * Divides the files so that all slices take about as long: each file, the slowest first, goes to the slice that has
 * least so far. Within a slice the slowest file starts first.
 */
export class SliceSequencer extends BaseSequencer {
  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { index, count } = this.ctx.config.shard ?? { index: 1, count: 1 }
    const slices = Array.from({ length: count }, () => ({
      files: [] as TestSpecification[],
      seconds: 0,
    }))
    for (const file of await this.sort(files)) {
      const [least] = slices.toSorted((one, other) => one.seconds - other.seconds)
      least?.files.push(file)
      if (least !== undefined) least.seconds += this.#secondsOf(file)
    }
    return slices[index - 1]?.files ?? []
  }

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byPath = files.toSorted((one, other) => (one.moduleId < other.moduleId ? -1 : 1))
    return byPath.toSorted((one, other) => this.#secondsOf(other) - this.#secondsOf(one))
  }

  #secondsOf({ moduleId }: TestSpecification): number {
    return SLOW_FILES[relative(this.ctx.config.root, moduleId)] ?? OTHER_SECONDS
  }
}
