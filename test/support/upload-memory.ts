import { UploadMemory } from '../../src/core/uploads/memory/budget.ts'

/** Memory of which there is always enough. */
export function ampleMemory(): UploadMemory {
  return new UploadMemory({ budget: 2 ** 40, partSize: 2 ** 20 })
}
