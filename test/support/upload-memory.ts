import type { Permit } from '../../src/core/async/fair-semaphore.ts'
import type { BodyMemory } from '../../src/core/memory/body-memory.ts'
import { UploadMemory } from '../../src/core/memory/upload-memory.ts'

/** Memory of which there is always enough. */
export function ampleMemory(): UploadMemory {
  return new UploadMemory({ budget: 2 ** 40, partSize: 2 ** 20, maxPerUser: Infinity })
}

/** Lends memory without a limit, and keeps the books. */
export function countingMemory() {
  const memory = {
    acquired: [] as number[],
    held: 0,
    acquire: async (bytes: number) => lend(bytes),
    tryAcquire: (bytes: number) => lend(bytes),
  } satisfies BodyMemory & { acquired: number[]; held: number }
  function lend(bytes: number): Permit {
    memory.acquired.push(bytes)
    memory.held += bytes
    return { release: () => void (memory.held -= bytes) }
  }
  return memory
}
