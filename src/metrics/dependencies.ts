import { Gauge, type Registry } from '@prometheus-io/client'
import type { Part } from '../core/errors.ts'
import type { Readiness } from '../core/readiness.ts'
import { createScrape } from './scrape.ts'

/** Whether database and object store answer, asked for each scrape as `/readyz` asks. */
export function createDependencyMetrics({
  registry,
  readiness,
}: {
  readonly registry: Registry
  readonly readiness: Readiness
}): () => Promise<void> {
  const up = new Gauge({
    name: 'cloud_repository_part_up',
    help: '1 when the part answers, 0 when it fails, as /readyz has it.',
    labelNames: ['part'],
    registers: [registry],
  })
  return createScrape({
    clear: () => up.reset(),
    read: async () => {
      const failures = await readiness.failures()
      for (const part of PARTS) up.set({ part }, failures.has(part) ? 0 : 1)
    },
  })
}

const PARTS: readonly Part[] = ['database', 'object_store']
