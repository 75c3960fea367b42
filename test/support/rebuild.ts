import type { ObjectStore } from '../../src/core/objects/object-store.ts'
import { createRebuilder, type Rebuilder } from '../../src/core/rebuild/rebuilder.ts'
import type { Database } from '../../src/database/database.ts'
import { createRebuildJournal } from '../../src/database/rebuild/journal.ts'
import { GARBAGE_DELAY_MS } from './test-core.ts'

export function createTestRebuilder(ports: {
  readonly database: Database
  readonly objects: ObjectStore
}): Rebuilder {
  const { database, objects } = ports
  const journal = createRebuildJournal(database)
  return createRebuilder({ journal, objects, garbageDelayMs: GARBAGE_DELAY_MS })
}
