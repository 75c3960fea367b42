import { formatCount } from './format.ts'

/** In English. They are not in `messages`, all of which the first visit loads. */
export const linksEnglish = {
  title: 'Links for people without an account',
  empty: 'No links.',
  unnamed: 'No title',
  create: 'Create a link',
  createAction: 'Create',
  kind: 'What it does',
  kinds: {
    download: ['Share files', 'Anyone with the link can download them.'],
    drop: ['Receive files', 'Anyone with the link can send you files, and sees none of yours.'],
  },
  name: 'File',
  prefix: 'Only file names that begin with (optional)',
  prefixHint:
    'For a folder, type its name and /. Visitors see it only as the name of the folder in an archive.',
  dropPrefix: 'Put in front of the names of new files (optional)',
  becomes: (prefix: string) => `“photo.jpg” becomes “${prefix}photo.jpg”.`,
  label: 'Title (optional)',
  labelHint: 'Visitors see it.',
  password: 'Password (optional)',
  passwordHint: 'Tell it to them in another way than the link.',
  uses: 'Number of uses (optional)',
  usesHint: 'Of downloads or received files. Then the link ends.',
  term: 'Valid for',
  days: (days: number) =>
    days === 0 ? 'Until it is revoked' : days === 1 ? '1 day' : `${days} days`,
  created: 'Link created',
  once: 'Copy it now. It is not shown again.',
  link: 'Link',
  copy: 'Copy link',
  copied: 'Link copied.',
  notCopied: 'Your browser did not allow copying. Select the link and copy it.',
  gives: (name: string) => `shares “${name}”`,
  givesAll: (prefix: string) =>
    prefix === '' ? 'shares all files' : `shares names that begin with “${prefix}”`,
  takes: (prefix: string) => (prefix === '' ? 'receives files' : `receives files as “${prefix}…”`),
  withPassword: 'with a password',
  since: (time: string) => `created ${time}`,
  until: (time: string) => `valid until ${time}`,
  expired: (time: string) => `expired ${time}`,
  forEver: 'valid until revoked',
  left: (uses: number) =>
    uses === 0 ? 'used up' : uses === 1 ? '1 use left' : `${formatCount(uses)} uses left`,
  revoke: 'Revoke',
  revokeNamed: (label: string) => `Revoke the link ${label}`,
  revokeTitle: 'Revoke this link?',
  revokeText: 'Nobody can use it any more. Files that were received stay. This can’t be undone.',
}

export type LinkMessages = typeof linksEnglish
