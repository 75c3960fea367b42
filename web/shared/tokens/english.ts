import { formatTime } from '../format.ts'

/** In English. They are not in `messages`, all of which the first visit loads. */
export const tokensEnglish = {
  title: 'Access tokens',
  empty: 'No access tokens.',
  unnamed: 'No name',
  issue: 'Issue a token',
  issueAction: 'Issue',
  connect: 'Connect a device',
  valid: 'Devices and programs',
  hint: 'Give each device and program a token of its own, which permits only what it needs.',
  what: 'What do you connect?',
  program: 'Another program',
  programHint: 'An app, a script, or a device that is not in your account.',
  noDevices:
    'Your account has no devices. The operator of this service adds them; a program needs none.',
  name: 'Name',
  nameHint: 'For example, Laptop backup',
  permits: 'It may',
  inherited: ['Do as much as your own access token', ''],
  presets: {
    send: ['Send files', 'It adds files to its own folder and sees only those. It deletes none.'],
    camera: ['Upload new files', 'It can neither see, replace nor delete anything.'],
    read: ['Read files', 'Download and list them.'],
    sync: ['Read, upload, replace and delete files', 'For a program that keeps a folder in step.'],
    all: ['Everything', 'Also to share files, and to make other tokens.'],
  },
  folder: 'Its folder',
  folderHint: 'It reaches nothing outside this folder.',
  everywhere: 'Without a folder, it reaches all files.',
  folderName: 'device',
  folderInvalid:
    'A folder must be at most 255 bytes long. It cannot contain \\, nor be “.” or “..”.',
  whenFull: 'When there is no more space',
  full: { refuse: 'Refuse new files', evict_oldest: 'Delete the oldest files of its folder' },
  evicting: 'makes room when full',
  inFolder: (folder: string) => `folder “${folder}”`,
  within: (prefix: string) => `names that begin with “${prefix}”`,
  ofDevice: (name: string) => `device ${name}`,
  everything: 'everything',
  term: 'Valid',
  days: (days: number) =>
    days === 0
      ? 'Until it is revoked'
      : days === 1
        ? '1 day'
        : days === 365
          ? '1 year'
          : `${days} days`,
  atMost: (end: number) => `Until ${formatTime(new Date(end).toISOString())} at the latest`,
  refusals: {
    scope_insufficient: 'Your own access token does not permit this.',
    access_token_limit_exceeded: 'You have the maximum number of tokens. Revoke one first.',
    not_found: 'This device is no longer in your account.',
  },
  issued: 'Token issued',
  once: 'Copy it or scan the code now. It is not shown again.',
  address: 'Address',
  copyAddress: 'Copy address',
  addressCopied: 'Address copied.',
  code: 'QR code of the token',
  codeWithAddress: 'QR code of the address and the token',
  command: {
    create: 'Upload a first file in a terminal',
    read: 'List the files in a terminal',
  },
  windows: 'On Windows (PowerShell)',
  copyCommand: 'Copy command',
  commandCopied: 'Command copied.',
  copy: 'Copy token',
  copied: 'Token copied.',
  notCopied: 'Your browser did not allow copying. Select the text and copy it.',
  done: 'Done',
  since: (time: string) => `issued ${time}`,
  until: (time: string) => `valid until ${time}`,
  expired: (time: string) => `expired ${time}`,
  forEver: 'valid until revoked',
  used: (time: string) => `last used ${time}`,
  unused: 'never used',
  revoked: (time: string) => `revoked ${time}`,
  revoke: 'Revoke',
  revokeNamed: (label: string) => `Revoke ${label}`,
  revokeTitle: 'Revoke this token?',
  revokeText:
    'It stops working within seconds, and so do the tokens that were made with it. This can’t be undone.',
}

export type TokenMessages = typeof tokensEnglish
