import { afterAll, describe } from 'vitest'
import { rawUploadsSuite } from '../../http/writes/raw-uploads-suite.ts'
import { fileNamesSuite } from '../../http/writes/file-names-suite.ts'
import { removalsSuite } from '../../http/writes/removals-suite.ts'
import { uploadsSuite } from '../../http/writes/uploads-suite.ts'
import { warnNotRun } from '../../support/servers/needs.ts'
import { startSeaweedfs } from '../../support/servers/seaweedfs.ts'
import { openOnS3 } from '../../support/service/s3-service.ts'
import type { TestServiceOptions } from '../../support/service/test-service.ts'
import { s3ServerSuite } from './server-suite.ts'

const server = await startSeaweedfs()
const address = 'unavailable' in server ? undefined : server.address
if ('unavailable' in server) warnNotRun(server.unavailable)
else afterAll(() => server.stop())

s3ServerSuite('SeaweedFS', address, { keepsReplacedParts: true })

describe.skipIf(address === undefined)('the service on SQLite and SeaweedFS', () => {
  uploadsSuite(openService)
  rawUploadsSuite(openService)
  fileNamesSuite(openService)
  removalsSuite(openService)
})

function openService(options?: TestServiceOptions) {
  return openOnS3(address, options)
}
