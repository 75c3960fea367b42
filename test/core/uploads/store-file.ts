import { objectKey, createVersion } from '../../../src/core/objects/object-key.ts'
import {
  type IncomingFile,
  storeContent,
  type StoreContentOptions,
  type StoredContent,
} from '../../../src/core/uploads/store-content.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { createMemoryStore } from '../../support/memory-store.ts'

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
    metadata: {},
    incoming,
    maxBytes: 2 ** 30,
    memory: {
      hold,
      release: () => undefined,
      tryHold: () => true,
      detach: () => undefined,
      awaitClient: (sent) => sent,
    },
    onBytes: () => undefined,
    signal: AbortSignal.timeout(10_000),
    ...options,
  })
}

async function* hold(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  yield* content
}
