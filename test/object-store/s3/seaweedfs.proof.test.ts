import { afterAll, describe } from 'vitest'
import { rawUploadsSuite } from '../../http/writes/raw-uploads-suite.ts'
import { fileNamesSuite } from '../../http/writes/file-names-suite.ts'
import { removalsSuite } from '../../http/writes/removals-suite.ts'
import { uploadsSuite } from '../../http/writes/uploads-suite.ts'
import { warnNotRun } from '../../support/servers/needs.ts'
import { findS3Server } from '../../support/servers/s3-server.ts'
import { S3_SERVERS } from '../../support/servers/s3-servers.ts'
import { openOnS3 } from '../../support/service/s3-service.ts'
import type { TestServiceOptions } from '../../support/service/test-service.ts'
import { s3ServerSuite } from './server-suite.ts'

const { title, keepsReplacedParts } = S3_SERVERS.seaweedfs
const server = await findS3Server(S3_SERVERS.seaweedfs)
const address = 'unavailable' in server ? undefined : server.address
if ('unavailable' in server) warnNotRun(server.unavailable)
else afterAll(() => server.stop())

s3ServerSuite(title, address, { keepsReplacedParts })

describe.skipIf(address === undefined)('the service on SQLite and SeaweedFS', () => {
  uploadsSuite(openService)
  rawUploadsSuite(openService)
  fileNamesSuite(openService)
  removalsSuite(openService)
})

function openService(options?: TestServiceOptions) {
  return openOnS3(address, options)
}
