import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Slice N of M is every Mth file in the order of their paths. Neighbours, which cost about the same, land in different
 * slices, so all slices take about as long; vitest's own order is random.
 */
export class SliceSequencer extends BaseSequencer {
  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { index, count } = this.ctx.config.shard ?? { index: 1, count: 1 }
    const sorted = files.toSorted((one, other) => (one.moduleId < other.moduleId ? -1 : 1))
    return sorted.filter((_, at) => at % count === index - 1)
  }
}
