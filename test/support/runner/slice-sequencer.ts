import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Seconds that the files above a hundred took beside three others on two slow cores, in November 2026. */
const SLOW_FILES: Readonly<Record<string, number>> = {
  'test/proofs/simulation/exhaustive.proof.test.ts': 970,
  'test/proofs/simulation/exhaustive-rest.proof.test.ts': 920,
  'test/proofs/simulation/planted.proof.test.ts': 670,
  'test/clients/package/package.proof.test.ts': 670,
  'test/database/postgres/steps.proof.test.ts': 580,
  'test/proofs/crash/evicting.proof.test.ts': 500,
  'test/clients/resumable/production.proof.test.ts': 420,
  'test/proofs/faults/clock.proof.test.ts': 400,
  'test/proofs/simulation/random.proof.test.ts': 400,
  'test/backup/drill.proof.test.ts': 400,
  'test/clients/resumable/embedded.proof.test.ts': 380,
  'test/proofs/crash/resumable/kills.proof.test.ts': 370,
  'test/proofs/fuzz/planted.proof.test.ts': 370,
  'test/proofs/simulation/planted-history.proof.test.ts': 350,
  'test/clients/python/python.proof.test.ts': 340,
  'test/proofs/cluster/minio.proof.test.ts': 330,
  'test/compose/compose.proof.test.ts': 320,
  'test/openapi/fuzzing.proof.test.ts': 290,
  'test/proofs/faults/network.proof.test.ts': 270,
  'test/web/resumable.proof.test.ts': 260,
  'test/web/film.proof.test.ts': 250,
  'test/web/operator/looks.proof.test.ts': 240,
  'test/proofs/crash/devices.proof.test.ts': 230,
  'test/documents/commands.proof.test.ts': 230,
  'test/web/load.proof.test.ts': 230,
  'test/proofs/crash/crash.proof.test.ts': 230,
  'test/proofs/faults/killed-store.proof.test.ts': 190,
  'test/proofs/hostile/heavy-user.proof.test.ts': 190,
  'test/clients/inert-downloads.proof.test.ts': 190,
  'test/web/docs.proof.test.ts': 170,
  'test/proofs/hostile/short-memory.proof.test.ts': 170,
  'test/web/story.proof.test.ts': 170,
  'test/proofs/crash/resumable/planted.proof.test.ts': 150,
  'test/clients/clients.proof.test.ts': 150,
  'test/object-store/s3/seaweedfs.proof.test.ts': 140,
  'test/clients/generators/generators.proof.test.ts': 130,
  'test/proofs/cluster/postgres.proof.test.ts': 110,
  'test/http/download/zip64.proof.test.ts': 110,
  'test/core/verify/verifier.proof.test.ts': 110,
}

/** About as long as another file takes. */
const OTHER_SECONDS = 45

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
