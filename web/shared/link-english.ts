import { formatBytes, formatCount } from './format.ts'

/** In English. They are not in `messages`, all of which the first visit loads. */
export const linksEnglish = {
  title: 'Links for people without an account',
  empty: 'No links.',
  unnamed: 'No title',
  gives: (name: string) => `shares “${name}”`,
  givesAll: (prefix: string) =>
    prefix === ''
      ? 'shares all files'
      : prefix.endsWith('/')
        ? `shares the folder “${prefix.slice(0, -1)}”`
        : `shares names that begin with “${prefix}”`,
  takes: (prefix: string) =>
    prefix === ''
      ? 'receives files'
      : prefix.endsWith('/')
        ? `receives files in “${prefix.slice(0, -1)}”`
        : `receives files as “${prefix}…”`,
  withPassword: 'with a password',
  since: (time: string) => `created ${time}`,
  until: (time: string) => `valid until ${time}`,
  expired: (time: string) => `expired ${time}`,
  forEver: 'valid until revoked',
  left: (uses: number) =>
    uses === 0 ? 'used up' : uses === 1 ? '1 use left' : `${formatCount(uses)} uses left`,
  receivedFiles: (count: number, most: number) =>
    `${formatCount(count)} of ${most === 1 ? '1 file' : `${formatCount(most)} files`} received`,
  receivedBytes: (bytes: number, most: number) =>
    `${formatBytes(bytes)} of ${formatBytes(most)} received`,
  edit: 'Edit',
  editNamed: (label: string) => `Edit the link ${label}`,
  revoke: 'Revoke',
  revokeNamed: (label: string) => `Revoke the link ${label}`,
  revokeTitle: 'Revoke this link?',
  revokeText: 'Nobody can use it any more. Files that were received stay. This can’t be undone.',
}

export type LinkMessages = typeof linksEnglish
