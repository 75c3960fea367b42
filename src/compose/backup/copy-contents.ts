import type { BackupFinding } from '../../core/backup/finding.ts'
import type { NamedContent } from '../../core/backup/named-object.ts'
import type { CopiedContents } from '../../core/backup/results.ts'
import type { Inventory } from '../../core/verify/inventory.ts'
import type { DatabaseCopy } from '../../database/sqlite/database-copy.ts'
import { ObjectCopier } from '../../object-store/filesystem/copy-objects.ts'

export interface CopyContents {
  /** Names what to copy. */
  readonly copy: DatabaseCopy
  /** The folders of two object stores. */
  readonly from: string
  readonly to: string
  /** Is added to. */
  readonly copied: CopiedContents
  readonly isResumed: boolean
  /** Whether the object of a content that `from` lacks is really lost; otherwise it was removed as garbage. */
  readonly isCurrent: Inventory['isCurrent']
  readonly onFinding: (finding: BackupFinding) => void
  readonly onProgress: (copied: CopiedContents) => void
  readonly signal: AbortSignal
}

/** Copies all objects that the copy of a database names, durably, and reads one row at a time. */
export async function copyObjects(options: CopyContents) {
  const { copy, from, to, copied, isResumed, isCurrent, onFinding, onProgress, signal } = options
  await using copier = new ObjectCopier({ from, to, isResumed, signal })
  const contents = { files: 0, versions: 0, bytes: 0 }
  const lostUploads: string[] = []
  let vanished = 0

  async function copyOne(content: NamedContent): Promise<void> {
    const { key: objectKey, version, size, sha256 } = content
    const result = await copier.copy(content)
    if (result.end === 'copied') {
      copied.objects += 1
      copied.objectBytes += size
    } else if (result.end !== 'present') {
      if (!(await isCurrent({ version, objectKey }))) vanished += 1
      else if (result.end === 'missing') {
        onFinding({ kind: 'missing_object', content, recorded: size })
      } else {
        const recorded = result.end === 'wrong_digest' ? sha256 : size
        onFinding({ kind: result.end, content, recorded, found: result.found })
      }
    }
    contents[content.isPast === 1 ? 'versions' : 'files'] += 1
    contents.bytes += size
  }

  for (const content of copy.contents()) {
    signal.throwIfAborted()
    await copyOne(content)
    if ((contents.files + contents.versions) % OBJECTS_PER_FLUSH === 0) {
      await copier.flush()
      onProgress(copied)
    }
  }
  for (const upload of copy.unfinished()) {
    signal.throwIfAborted()
    if (!(await copier.copyUnfinished(upload))) lostUploads.push(upload.version)
  }
  await copier.flush()
  return { copied, contents, lostUploads, vanished }
}

const OBJECTS_PER_FLUSH = 200
