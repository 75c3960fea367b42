import type { ObjectKey } from '../../../src/core/objects/object-key.ts'
import { createS3Store } from '../../../src/object-store/s3/store.ts'
import { appendStoreContract } from '../../core/objects/append-store-contract.ts'
import { objectStoreContract } from '../../core/objects/object-store-contract.ts'
import { FakeS3 } from '../../support/faults/fake-s3.ts'

async function createSubject() {
  const s3 = new FakeS3()
  const store = createS3Store(s3.options())
  return {
    store,
    partSize: 300_000,
    residue: async (key: ObjectKey) =>
      [...s3.uploads].filter(([, upload]) => upload.key === key).map(([uploadId]) => uploadId),
    dispose: () => store.close(),
  }
}

objectStoreContract('the S3 store on a bucket in memory', createSubject)
appendStoreContract('the S3 store on a bucket in memory', createSubject)
