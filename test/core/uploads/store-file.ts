import { objectKey, createVersion } from '../../../src/core/objects/object-key.ts'
import {
  type IncomingFile,
  storeContent,
  type StoreContentOptions,
  type StoredContent,
} from '../../../src/core/uploads/store-content.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { createMemoryStore } from '../../support/memory-store.ts'
import { countingMemory } from '../../support/upload-memory.ts'

/** Under which `storeFile` stores. */
export const key = objectKey(parseUserId('alice'), createVersion())

/** `storeContent` with ample memory, a memory store and no limit, unless `options` say otherwise. */
export function storeFile(
  incoming: IncomingFile,
  options: Partial<StoreContentOptions> = {},
): Promise<StoredContent> {
  return storeContent({
    objects: createMemoryStore(),
    key,
    metadata: () => ({}),
    incoming,
    maxBytes: 2 ** 30,
    memory: { ...countingMemory(), watch: () => undefined },
    onBytes: () => undefined,
    signal: AbortSignal.timeout(10_000),
    ...options,
  })
}
