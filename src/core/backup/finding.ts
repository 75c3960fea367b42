import type { NamedContent, UnfinishedContent } from './named-object.ts'

/** What `backup`, `backup --check` and `restore` find; objects as `verify` finds them (docs/backup.md). */
export interface BackupFinding {
  readonly kind:
    | 'missing_object'
    | 'wrong_size'
    | 'wrong_digest'
    | 'unreadable_object'
    | 'broken_upload'
    | 'damaged_manifest'
    | 'damaged_database'
    | 'damaged_pack'
    | 'other_store'
  /** The copy that needs it. */
  readonly copy?: string | undefined
  readonly content?: NamedContent | UnfinishedContent | undefined
  readonly recorded?: number | string | undefined
  readonly found?: number | string | undefined
}
