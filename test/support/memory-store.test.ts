import { createMemoryStore } from './memory-store.ts'
import { objectStoreContract } from '../core/objects/object-store-contract.ts'

objectStoreContract('the memory store', async () => ({
  store: createMemoryStore(),
  residue: async () => [],
  dispose: async () => undefined,
}))
