import { createS3Store } from '../../../src/object-store/s3/store.ts'
import { objectStoreContract } from '../../core/objects/object-store-contract.ts'
import { FakeS3 } from '../../support/faults/fake-s3.ts'

objectStoreContract('the S3 store on a bucket in memory', async () => {
  const s3 = new FakeS3()
  const store = createS3Store(s3.options())
  return {
    store,
    residue: async (key) =>
      [...s3.uploads].filter(([, upload]) => upload.key === key).map(([uploadId]) => uploadId),
    dispose: () => store.close(),
  }
})
