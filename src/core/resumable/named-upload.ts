import { actorOf, linkIdOf, type Subject } from '../auth/subject.ts'
import type { Version } from '../objects/object-key.ts'
import type { NamedResumable } from './resumable-ledger.ts'

/** An upload, and who names it. */
export interface NamedUpload {
  readonly subject: Subject
  readonly version: Version
}

/** What the ledger looks for: for the visitor of a link, only an upload that this link has created. */
export function namedBy({ subject, version }: NamedUpload): NamedResumable {
  return { ...actorOf(subject), version, linkId: linkIdOf(subject) }
}
