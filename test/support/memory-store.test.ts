import { appendStoreContract } from '../core/objects/append-store-contract.ts'
import { objectStoreContract } from '../core/objects/object-store-contract.ts'
import { createMemoryStore } from './memory-store.ts'

async function createSubject() {
  return {
    store: createMemoryStore(),
    partSize: 300_000,
    residue: async () => [],
    dispose: async () => undefined,
  }
}

objectStoreContract('the memory store', createSubject)
appendStoreContract('the memory store', createSubject)
