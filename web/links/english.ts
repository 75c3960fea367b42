import { formatCount } from '../shared/format.ts'

/** In English. They are not in `messages`, all of which the first visit of the users' page loads. */
export const visitEnglish = {
  ended: 'This link has ended',
  endedText:
    'It has expired, was revoked or was used up, or its address is incomplete. Ask the person who sent it for a new one.',
  failed: 'The link could not be opened',
  locked: 'This link has a password',
  password: 'Password',
  open: 'Open',
  notKept: 'Your browser did not keep the password. Allow cookies for this address and try again.',
  reasons: {
    link_password_invalid: 'This is not the password of the link.',
    too_many_requests: 'Too many failed attempts. Try again in a few minutes.',
  },
  titles: { download: 'Shared files', drop: 'Send files' },
  hints: {
    download: 'You can download these files.',
    drop: 'Your files go to the person who made this link. Nobody else with the link sees them.',
  },
  until: (time: string) => `The link is valid until ${time}.`,
  downloadsLeft: (uses: number) =>
    uses === 1 ? 'One more download is possible.' : `${formatCount(uses)} downloads are possible.`,
  /** Of a drop link; `null` and an empty size for no limit. The size is that of all files together. */
  takes: (files: number | null, size: string) => {
    const more = files === null ? 'files' : `up to ${formatCount(files)} more files`
    const bound = size === '' ? '' : files === 1 ? `, ${size} at most` : `, ${size} in all`
    return `It takes ${files === 1 ? 'one more file' : more}${bound}.`
  },
  full: 'It takes no more files.',
  fullHint: 'This link takes no more files. Ask the person who sent it for a new one.',
  empty: 'There are no files here now.',
  /** `size` is of all files in the folder and below. */
  inFolder: (count: number, size: string) =>
    count === 0 ? 'empty' : `${count === 1 ? '1 file' : `${formatCount(count)} files`}, ${size}`,
  /** `size` is empty if there are more files than are listed. */
  all: (size: string) => (size === '' ? 'Download all' : `Download all (${size})`),
  tooMany: 'These are too many files for one archive. Download them one by one.',
  preview: 'Preview',
  previewNamed: (name: string) => `Preview ${name}`,
  previous: 'Previous photo',
  next: 'Next photo',
  notShown: 'Your browser cannot show this file. Download it instead.',
  choose: 'Choose files',
  chooseFolder: 'Choose a folder',
  dropHere: 'or drop files and folders here',
  /** Of a folder that is sent. */
  sentFiles: (sent: number, all: number) =>
    `${formatCount(sent)} of ${all === 1 ? '1 file' : `${formatCount(all)} files`}`,
  notSent: (count: number) => `${formatCount(count)} not sent`,
  sentOf: (sent: string, size: string) => `${sent} of ${size}`,
  states: {
    waiting: 'waiting',
    paused: 'no connection, trying again',
    done: 'sent',
  },
  allSent: (count: number) => (count === 1 ? '1 file sent.' : `${formatCount(count)} files sent.`),
  refusals: {
    file_exists: 'A file with this name was already sent. Rename yours to send it too.',
    capacity_exceeded: 'There is no room for this file.',
    link_limit_exceeded: 'The link takes no more files, or not one of this size.',
    file_too_large: 'This file is too large.',
    invalid_file_name: 'This file name is not accepted. Rename the file.',
    not_found: 'The link has ended.',
    link_password_required: 'Reload the page and enter the password again.',
  },
  /** After a lost connection. */
  lost: {
    file_exists: 'The connection was lost. A file with this name has arrived, probably yours.',
    not_found: 'The connection was lost, and the link has ended. The file may have arrived.',
  },
}

export type VisitMessages = typeof visitEnglish
