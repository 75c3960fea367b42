import { changesSuite } from './changes-suite.ts'
import { conditionalWritesSuite } from './conditional-writes-suite.ts'
import { digestsSuite } from './digests-suite.ts'
import type { OpenService } from './fixture.ts'
import { listingsSuite } from './listings-suite.ts'
import { rawUploadsSuite } from './raw-uploads-suite.ts'
import { refusalsSuite } from './refusals-suite.ts'
import { removalsSuite } from './removals-suite.ts'
import { visibilitySuite } from './visibility-suite.ts'

/** All that a repository does beside uploads of forms and plain downloads. */
export function writeSuites(open: OpenService): void {
  contentWriteSuites(open)
  refusalsSuite(open)
  listingsSuite(open)
  visibilitySuite(open)
}

/** What of it puts objects into the store, or takes them out. */
export function contentWriteSuites(open: OpenService): void {
  rawUploadsSuite(open)
  conditionalWritesSuite(open)
  digestsSuite(open)
  removalsSuite(open)
  changesSuite(open)
}
