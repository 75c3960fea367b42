import { formatBytes, formatCount, formatTime } from '../../shared/format.ts'

const files = (count: number): string => (count === 1 ? '1 file' : `${formatCount(count)} files`)

/** In English. They are not in `messages`, all of which the first visit loads. */
export const sharingEnglish = {
  title: 'Share',
  /** Of several links for as many files and folders. */
  create: (count: number) => (count === 1 ? 'Create link' : `Create ${formatCount(count)} links`),
  createTitle: 'Create a link',
  createAction: 'Create',
  another: 'Create another link',
  hint: {
    file: 'Anyone with the link can download this file. They need no account.',
    folder: 'Anyone with the link can download what is in this folder, also what you add later.',
    many: 'One link for each of them. Anyone with a link can download what it is for.',
    together:
      'One link to all of them. Anyone with the link can download them, and what you add to their folder later.',
    tooMany: (most: number) =>
      `To share more than ${formatCount(most)} files, move them into a folder, and share the folder.`,
  },
  kind: 'What people can do',
  kinds: {
    download: ['Download', 'Anyone with the link can download the files.'],
    drop: ['Send you files', 'Anyone with the link can send files, and sees none of yours.'],
  },
  folder: 'Folder (optional)',
  folderHints: {
    download: 'For example, Trip. Without one, the link is for all files.',
    drop: 'For example, Party. What people send arrives there.',
  },
  term: 'Ends after',
  days: (days: number) => (days === 0 ? 'Never' : days === 1 ? '1 day' : `${days} days`),
  unchanged: (end: string | null) => (end === null ? 'Never' : `As it is: ${formatTime(end)}`),
  options: 'Password and more',
  password: 'Password (optional)',
  newPassword: 'New password (optional)',
  passwordHint: 'Tell it to people in another way than the link.',
  passwordKept: 'Without a new one, the password stays as it is.',
  removePassword: 'No password',
  removePasswordHint: 'Then the link alone is enough.',
  label: 'Title (optional)',
  labelHint: 'Visitors see it.',
  uses: 'Most downloads (optional)',
  usesHint: 'Then the link ends. Visitors see no previews, which would count.',
  usesTaken: (used: number) => `${formatCount(used)} used.`,
  maxFiles: 'Most files',
  maxBytes: 'Most space',
  usual: 'If you leave it empty, the usual limit of this service applies.',
  aboveUsual: (field: string) =>
    `“${field}” is more than this service lets a link take. Leave it empty for the usual limit.`,
  /** Of a link that takes files. */
  received: (count: number) => `${files(count)} received.`,
  receivedBytes: (bytes: number) => `${formatBytes(bytes)} received.`,
  notAmount: 'Enter a number greater than 0.',
  made: (count: number) => (count === 1 ? 'Link created' : `${formatCount(count)} links created`),
  once: 'Copy it now. It is not shown again.',
  onceMany: 'Copy them now. They are not shown again.',
  link: 'Link',
  links: 'Links',
  copy: 'Copy link',
  copyAll: 'Copy links',
  copied: 'Copied.',
  notCopied: 'Your browser did not allow copying. Select the text and copy it.',
  code: 'QR code of the link',
  showCode: 'Show as a QR code',
  partly: (made: number, all: number) =>
    `Only ${formatCount(made)} of ${formatCount(all)} links were created.`,
  existing: { file: 'Links to this file', folder: 'Links to this folder' },
  editTitle: 'Edit link',
  save: 'Save',
  renew: 'New address …',
  renewTitle: 'Give this link a new address?',
  renewText:
    'The old address stops working at once, for everyone who has it. The new one has the same terms.',
  renewAction: 'New address',
  advanced: 'Advanced: who can see it without a link',
  who: 'Who can see it without a link',
  whoMany: 'Who can see each of them without a link',
  visibilities: {
    private: ['Only you', 'Links that you have created work all the same.'],
    users: ['All users of this service', 'They find it in your list, with an account of theirs.'],
    public: [
      'Public: anyone can find it in your list',
      'They need neither an account nor a link, only your name.',
    ],
  },
  change: 'Change',
  address: 'Address',
  addresses: 'Copy the addresses',
}

export type SharingMessages = typeof sharingEnglish
