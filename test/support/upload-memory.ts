import { detachBuffer } from '../../src/core/objects/object-store.ts'
import type { BodyMemory, FirstPart } from '../../src/core/objects/body-memory.ts'
import { UploadMemory } from '../../src/core/uploads/memory/budget.ts'

/** Memory of which there is always enough. */
export function ampleMemory(): UploadMemory {
  return new UploadMemory({ budget: 2 ** 40, partSize: 2 ** 20 })
}

/** Lends memory without a limit, and keeps the books. */
export function countingMemory() {
  const memory = {
    taken: 0,
    held: 0,
    async *hold(
      content: AsyncIterable<Uint8Array>,
      { firstPart }: { readonly firstPart?: FirstPart | undefined } = {},
    ) {
      let passed = 0
      let readBack = firstPart
      const claim = (): void => {
        if (readBack === undefined || passed < readBack.contentBytes) return
        memory.held += readBack.heldBefore
        readBack = undefined
      }
      claim()
      for await (const piece of content) {
        const { byteLength } = piece
        passed += byteLength
        memory.taken += byteLength
        memory.held += byteLength
        claim()
        yield piece
      }
    },
    tryHold: (bytes: number) => {
      memory.held += bytes
      return true
    },
    release: (bytes: number) => void (memory.held -= bytes),
    detach: detachBuffer,
  } satisfies BodyMemory & { taken: number; held: number }
  return memory
}
