import { formatBytes, formatTime } from '../format.ts'

/** Of deleted and earlier versions, in English. They are not in `messages`, all of which the first visit loads. */
export const versionsEnglish = {
  of: (name: string) => `Earlier versions of “${name}”`,
  empty: 'Nothing to restore',
  emptyHint:
    'If this service keeps them, the files that you replace or delete stay here for a while.',
  ended: {
    replaced: (time: string) => `replaced ${formatTime(time)}`,
    deleted: (time: string) => `deleted ${formatTime(time)}`,
  },
  kept: (time: string) => `kept until ${formatTime(time)} at the latest`,
  download: (version: string) => `Download ${version}`,
  restore: (version: string) => `Restore ${version}`,
  purge: (version: string) => `Delete ${version} for good`,
  actions: { restore: 'Restore', purge: 'Delete for good' },
  restored: (name: string) => `“${name}” was restored.`,
  replaceTitle: 'Replace the current file?',
  replaceText: (name: string) =>
    `A file named “${name}” already exists. If you replace it, it becomes an earlier version.`,
  replace: 'Replace it',
  purgeTitle: 'Delete this version for good?',
  purgeText: 'You will not be able to restore it.',
  purgeAll: 'Delete all for good',
  purgeAllTitle: 'Delete all of these for good?',
  purgeAllText: 'You will not be able to restore any of them. Your current files stay.',
  refusals: {
    exists: (name: string) =>
      `“${name}” was not restored because there is a file with this name again.`,
    full: (name: string, available: number) =>
      `Not enough space to restore “${name}”: ${formatBytes(available)} free.`,
    gone: (name: string) => `“${name}” can no longer be restored.`,
    shared: (name: string) =>
      `“${name}” was not restored because others could read it, and your access token does not permit sharing.`,
  },
}

export type VersionMessages = typeof versionsEnglish
