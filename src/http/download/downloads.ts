import { type FairShare, createFairShare } from '../../core/async/fair-share.ts'
import { MAX_ARCHIVED_FILES } from '../../core/files/archive.ts'
import { type ReaderLimits, ReaderSlots } from '../server/reader-slots.ts'

/** What bounds the downloads of a process, on all its listeners together. */
export interface Downloads {
  readonly slots: ReaderSlots
  /** Each file of an archive takes about 1 KiB until its end: 50 MiB in all, for five archives of the largest kind. */
  readonly archivedFiles: ReaderSlots
  /** What the contents that all readers wait for may hold. */
  readonly waiting: FairShare
}

export function createDownloads(limits: Pick<ReaderLimits, 'perOwner' | 'total'>): Downloads {
  const { perOwner, total } = limits
  return {
    slots: new ReaderSlots({ perOwner, total, counted: 'downloads in progress' }),
    archivedFiles: new ReaderSlots({
      perOwner: 2 * MAX_ARCHIVED_FILES,
      total: 5 * MAX_ARCHIVED_FILES,
      counted: 'files in archives in progress',
    }),
    waiting: createFairShare({
      totalBytes: 32 * 1024 * 1024,
      minBytes: 16 * 1024,
      maxBytes: 512 * 1024,
    }),
  }
}
