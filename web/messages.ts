import type { ErrorCode } from '../packages/js/src/errors.ts'
import type { AuditMessages } from './operator/audit/english.ts'
import type { MovesMessages } from './user/moves/english.ts'
import type { ShortcutMessages } from './user/shortcuts/english.ts'
import type { LinkMessages } from './shared/link-english.ts'
import type { VisitMessages } from './links/english.ts'
import type { OperatorMessages } from './operator/english.ts'
import type { Order, Visibility } from './shared/model.ts'
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatNeed,
  formatTime,
  formatWholeTime,
} from './shared/format.ts'

/**
 * All messages of the pages: every language has exactly these, with the same parameters. The English ones of
 * what the first visit of the users' page does not load stand apart.
 */
export type Messages = typeof english & {
  readonly visit?: VisitMessages
  readonly links?: LinkMessages
  readonly moves?: MovesMessages
  readonly operator?: OperatorMessages
  readonly audit?: AuditMessages
  readonly shortcuts?: ShortcutMessages
}

const files = (count: number): string => (count === 1 ? '1 file' : `${formatCount(count)} files`)

const uploads = (count: number): string =>
  count === 1 ? '1 upload' : `${formatCount(count)} uploads`

const oneOrMany = (count: number, name: string): string =>
  count === 1 ? `“${name}” was` : `${files(count)} were`

/** By code. The problem documents of the service have details in English, so English needs no others. */
const OWN_DETAILS: Readonly<Partial<Record<ErrorCode, string>>> = {}

const english = {
  product: 'Cloud Repository',
  outage: 'The service cannot be reached. Trying again …',
  close: 'Close',
  cancel: 'Cancel',
  undo: 'Undo',
  retry: 'Retry',
  showMore: 'Show more',
  keyboard: 'Keyboard shortcuts',
  notLoaded: 'A part of the page could not be loaded. Try again, or reload the page.',
  failed: (detail: string) => `Something went wrong: ${detail}`,

  signIn: {
    title: 'Sign in',
    explanation:
      'You get your access token from the operator of this service or from the device you paired. Treat it ' +
      'like a password. Your browser keeps it where no script can read it.',
    label: 'Access token',
    show: 'Show the token',
    action: 'Sign in',
    signOut: 'Sign out',
    needed: 'Enter your access token.',
    notKept: 'Your browser did not keep the token. Allow cookies for this address and try again.',
    reasons: {
      access_token_invalid:
        'This access token is not valid. Check for a typo; it may also have expired or been revoked.',
      two_access_tokens:
        'Your browser sent two different access tokens, so the request was refused. Another site may have ' +
        'set one of them to ' +
        'get your files. Sign out to remove both, or sign in again. If this message appears again, delete ' +
        'the cookies of this ' +
        'address in your browser.',
      user_suspended: 'This account is suspended. Contact the operator of this service.',
      too_many_requests: 'Too many failed attempts. Try again in a few minutes.',
      ended: 'Your access token is no longer valid, so you were signed out.',
    },
    link: {
      title: 'Sign in with this link?',
      warning:
        'This link contains an access token. If you sign in with it, your uploads go to the repository of ' +
        'the token’s owner. ' +
        'Continue only if you trust the sender of the link.',
      replaces: (user: string) =>
        `You are signed in as “${user}”. Continuing signs you out and cancels your uploads in progress.`,
      action: 'Sign in with this link',
      stay: (user: string) => `Stay signed in as ${user}`,
    },
    uploadsKept: (count: number) => `${files(count)} still to upload. Sign in to continue.`,
  },

  files: {
    title: 'Files',
    name: 'Name',
    size: 'Size',
    changed: 'Changed',
    sortBy: 'Sort by',
    orders: {
      name: 'Name, A to Z',
      '-name': 'Name, Z to A',
      '-updated_at': 'Newest first',
      updated_at: 'Oldest first',
      '-size': 'Largest first',
      size: 'Smallest first',
    } satisfies Record<Order, string>,
    search: 'Search by name',
    upload: 'Upload files',
    choose: 'Choose files',
    asGrid: 'Show as a grid',
    asList: 'Show as a list',
    uploadFolder: 'Upload a folder',
    loading: 'Loading …',
    empty: 'Nothing here yet',
    emptyHint: 'Drop files or a folder here, paste a picture, or choose files.',
    emptyHintForTouch: 'Choose files or a folder to upload.',
    noMatch: (text: string) => `No name contains “${text}”`,
    dropHere: 'Drop to upload',
    folder: (name: string) => `Folder ${name}`,
    download: (name: string) => `Download ${name}`,
    share: (name: string) => `Share ${name}`,
    rename: (name: string) => `Rename ${name}`,
    move: (name: string) => `Move ${name}`,
    remove: (name: string) => `Delete ${name}`,
    stay: (name: string) => `How long ${name} stays`,
    history: (name: string) => `Earlier versions of ${name}`,
    more: (name: string) => `Actions for ${name}`,
    actions: {
      select: 'Select',
      download: 'Download',
      share: 'Share',
      rename: 'Rename',
      move: 'Move',
      stay: 'How long it stays',
      history: 'Earlier versions',
      remove: 'Delete',
    },
    time: formatTime,
    wholeTime: formatWholeTime,
  },

  /** Of several files at once. */
  selection: {
    title: 'Selected files',
    select: (name: string) => `Select ${name}`,
    count: (count: number) => `${formatCount(count)} selected`,
    size: (bytes: number) => formatBytes(bytes),
    all: 'Select all',
    more: 'Not all files are listed yet.',
    end: 'End the selection',
    actions: {
      download: 'Download',
      share: 'Share',
      move: 'Move',
      keep: 'Keep',
      unkeep: 'Do not keep',
      remove: 'Delete',
    },
    progress: (done: number, all: number) => `${formatCount(done)} of ${files(all)} …`,
    done: {
      share: (count: number) => `Sharing of ${files(count)} was changed.`,
      keep: (count: number) => `${files(count)} ${count === 1 ? 'is' : 'are'} kept.`,
      unkeep: (count: number) => `${files(count)} ${count === 1 ? 'is' : 'are'} no longer kept.`,
      rename: (count: number) => `${files(count)} ${count === 1 ? 'was' : 'were'} moved.`,
    },
    /** What was not done, and why. */
    left: (count: number, all: number, why: string) =>
      `Not done for ${formatCount(count)} of ${files(all)}: ${why}`,
    whys: {
      changed: 'They have changed or are gone.',
      exists: 'There are files with these names.',
      lost: 'They can no longer be restored.',
      full: 'There is not enough space.',
      cancelled: 'You have cancelled it.',
    },
    share: {
      who: 'Who can download each of them',
      action: 'Change',
      links: 'Copy the links',
      copied: 'Links copied.',
      notCopied: 'Your browser did not allow copying.',
      together: 'One link to all of them',
      togetherHint: (prefix: string) =>
        `It shares all files whose names begin with “${prefix}”, also those that you add later.`,
    },
    archive: {
      title: 'Download',
      hint: (most: number) =>
        `One archive takes up to ${formatCount(most)} chosen files, or fewer if their names are long.`,
      part: (index: number, count: number, bytes: number) =>
        `Archive ${formatCount(index)}: ${files(count)}, ${formatBytes(bytes)}`,
      together: (count: number, bytes: number) =>
        `One archive: ${files(count)}, ${formatBytes(bytes)}`,
    },
  },

  folders: {
    title: 'Folders',
    all: 'All files',
    searched: 'Searched in',
    make: 'New folder',
    count: files,
    tooMany: 'There are too many files to sort them by folder, so those in folders are shown too.',
    empty: (folder: string) => `Nothing in “${folder}”`,
    noMatch: (text: string, folder: string) => `No name in “${folder}” contains “${text}”`,
    dropHere: (folder: string) => `Drop to upload to “${folder}”`,
  },

  viewer: {
    place: (index: number, count: number, hasMore: boolean) =>
      `${formatCount(index)} of ${formatCount(count)}${hasMore ? '+' : ''}`,
    announce: (name: string) => `Showing ${name}`,
    previous: 'Previous file',
    next: 'Next file',
    notShown: 'This file cannot be shown here.',
    empty: 'This file is empty.',
    download: (size: string) => `Download (${size})`,
    beginning: (size: string) => `This is the beginning of the file, ${size}.`,
  },

  /** Of a session whose access token has a scope. */
  limits: {
    title: 'Limited access',
    until: (time: string) => `until ${formatTime(time)}`,
    unseen: 'Your access token does not permit you to see the files.',
    shown: (prefix: string) => `You see only files whose names begin with “${prefix}”.`,
    uploaded: (prefix: string) =>
      `If the name of a new file does not begin with “${prefix}”, this is put in front of it.`,
  },

  visibility: {
    names: {
      private: 'Only you',
      users: 'Users with the link',
      public: 'Anyone with the link',
    } satisfies Record<Visibility, string>,
    explanations: {
      private: 'The link works for you alone.',
      users: 'They need an access token of this service as well.',
      public: 'They need no account.',
    } satisfies Record<Visibility, string>,
  },

  share: {
    title: 'Share',
    who: 'Who can download it',
    link: 'Link',
    timed: 'Link with an end date or a password',
    copy: 'Copy link',
    copied: 'Link copied.',
    notCopied: 'Your browser did not allow copying. Select the link and copy it.',
  },

  rename: {
    done: (before: string) => `“${before}” was renamed.`,
    title: 'Rename',
    label: 'New name',
    action: 'Rename',
    replace: 'Replace it',
    taken: (name: string) => `A file named “${name}” already exists.`,
    invalid: 'A name must be 1 to 255 bytes long and cannot contain / or \\, nor be “.” or “..”.',
    gone: 'This file no longer exists, or has changed since.',
    outside: (prefix: string) =>
      `Your access token only permits names that begin with “${prefix}”.`,
  },

  removal: {
    done: (count: number, name: string) => `${oneOrMany(count, name)} deleted.`,
    forGood: (count: number, name: string) =>
      `${oneOrMany(count, name)} deleted for good. This service does not keep deleted files.`,
    changed: (name: string) => `“${name}” was not deleted because it has changed.`,
  },

  history: {
    title: 'Deleted and earlier versions',
    of: (name: string) => `Earlier versions of “${name}”`,
    back: 'All files',
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
  },

  capacity: {
    title: 'Capacity',
    used: 'Used',
    reserved: 'Being uploaded',
    free: 'Free',
    of: (used: number, capacity: number) => `${formatBytes(used)} of ${formatBytes(capacity)} used`,
    unfinished: (count: number, bytes: number) =>
      `${formatCount(count)} unfinished ${count === 1 ? 'upload' : 'uploads'} (${formatBytes(bytes)})`,
    history: (used: number, allowance: number) =>
      `Earlier versions: ${formatBytes(used)} of ${formatBytes(allowance)}`,
    meter: (used: number, reserved: number, free: number) =>
      `${formatBytes(used)} used, ${formatBytes(reserved)} being uploaded, ${formatBytes(free)} free`,
    states: {
      normal: '',
      nearing: 'Getting full.',
      critical: 'Almost full.',
      exceeded: (bytes: number) =>
        `Over capacity by ${formatNeed(bytes)}. Your files are safe, but you cannot upload until you free some space.`,
    },
    count: (count: number, most: number) => `${files(count)} of ${formatCount(most)}`,
    parts: 'Where it comes from',
    base: 'Included with your account',
    device: 'Device',
    until: (time: string) => `until ${formatTime(time)}`,
    stays: 'For as long as you have your account.',
    leaves: (left: number) => `Without it, you would have ${formatBytes(left)} free.`,
    leavesOver: (missing: number) =>
      `Without it, you would be over capacity by ${formatNeed(missing)}: your files stay, but you could not upload.`,
  },

  uploads: {
    title: 'Uploads',
    running: (done: number, all: number) =>
      `Uploading ${formatCount(done + 1)} of ${formatCount(all)}`,
    finished: (count: number) => `${files(count)} uploaded`,
    needsYou: (count: number) => `${files(count)} ${count === 1 ? 'needs' : 'need'} a decision`,
    rate: (bytesPerSecond: number, seconds: number) =>
      `${formatBytes(bytesPerSecond)}/s, ${formatDuration(seconds)} left`,
    expand: 'Show all uploads',
    collapse: 'Show less',
    clear: 'Clear list',
    cancelAll: 'Cancel all',
    cancel: (name: string) => `Cancel ${name}`,
    dismiss: (name: string) => `Remove ${name} from the list`,
    retry: (name: string) => `Retry ${name}`,
    retryAll: 'Retry all',
    progress: 'Progress of all uploads',
    announce: (percent: number) => `${percent} % uploaded`,
    pasted: (time: Date, extension: string) =>
      `Pasted ${time.toISOString().slice(0, 19).replace('T', ' ').replaceAll(':', '.')}${extension}`,
    states: {
      waiting: 'Waiting',
      sending: (sent: number, size: number) => `${formatBytes(sent)} of ${formatBytes(size)}`,
      finishing: 'Saving',
      done: 'Uploaded',
      exists: 'A file with this name already exists.',
      unseen: 'This replaces the file with this name, which your access token does not show.',
      full: 'Not enough space.',
      differs: 'The file may have changed. Continue anyway?',
      elsewhere: 'This file is being uploaded elsewhere.',
      lost: 'Connection lost. Retrying …',
      signedOut: 'Waiting for you to sign in.',
    },
    replace: 'Replace',
    keepBoth: 'Keep both',
    skip: 'Skip',
    goOn: 'Continue',
    goOnHere: 'Continue here',
    startOver: 'Start over',
    replaceAll: (count: number) => `Replace all ${formatCount(count)}`,
    skipAll: 'Skip all',
    full: (missing: number, available: number) =>
      `Not enough space: ${formatNeed(missing)} more needed. ` +
      (available === 0
        ? 'Your repository is full. Delete something first.'
        : `Up to ${formatBytes(available)} would fit.`),
    fits: 'There is enough space now. Retry.',
    fullTogether: (count: number, missing: number) =>
      `Not enough space for all ${files(count)}: ${formatNeed(missing)} more needed.`,
    fullMany: (count: number, missing: number) =>
      `Not enough space for ${files(count)}: ${formatNeed(missing)} more needed.`,
    refusals: {
      file_count_exceeded: 'You have reached the maximum number of files. Delete some first.',
      file_too_large: (most: number) =>
        `This file is too large. The maximum is ${formatBytes(most)}.`,
      name_too_long:
        'This name is too long. A name has at most 255 bytes, and at most 1,024 with its folders. Shorten it, and try again.',
      invalid_file_name:
        'This file name is not allowed: it contains \\ or a control character, or a part of it is “.” or “..”. Rename the file and try again.',
      unfinished_uploads_exceeded:
        'You have too many unfinished uploads. Finish or cancel some first.',
      cancelled: 'This upload was cancelled elsewhere.',
      given_up: 'The upload failed repeatedly. Try again later.',
      unreadable: 'The file could not be read. It may have been moved or changed.',
      absent: 'Your access token only permits replacing files, and no file has this name.',
      folder_exists: 'There is a folder with this name. Rename the file and try again.',
      file_around: (name: string) =>
        `“${name}” is a file, so it cannot be a folder too. Rename one of them and try again.`,
    },
    /** Of a folder that is uploaded. */
    tree: {
      open: (name: string) => `Files of the folder ${name}`,
      progress: (name: string) => `Progress of the folder ${name}`,
      files: (done: number, all: number) => `${formatCount(done)} of ${files(all)}`,
      bytes: (sent: number, all: number) => `${formatBytes(sent)} of ${formatBytes(all)}`,
      failed: (count: number) => `${formatCount(count)} not uploaded`,
      undecided: (count: number) =>
        `${formatCount(count)} ${count === 1 ? 'needs' : 'need'} a decision`,
      empty: 'Empty folder',
    },
  },

  unfinished: {
    title: 'Unfinished uploads',
    interrupted: (count: number) =>
      `${uploads(count)} ${count === 1 ? 'was' : 'were'} interrupted. ` +
      `Choose the ${count === 1 ? 'file' : 'files'} again to continue.`,
    complete: (count: number) => `${uploads(count)} could not be stored yet.`,
    elsewhere: (count: number) =>
      `${uploads(count)} ${count === 1 ? 'is' : 'are'} running elsewhere.`,
    progress: (name: string) => `Progress of ${name}`,
    received: (offset: number, length: number | null) =>
      length === null ? formatBytes(offset) : `${formatBytes(offset)} of ${formatBytes(length)}`,
    kept: (time: string) => `kept until ${formatTime(time)}`,
    receiving: 'Being uploaded elsewhere',
    arrived: 'The whole file has arrived.',
    refusals: {
      capacity_exceeded: 'The whole file has arrived, but there is not enough space.',
      file_count_exceeded:
        'The whole file has arrived, but you have reached the maximum number of files.',
      precondition_failed:
        'The whole file has arrived, but the existing file with this name has changed since.',
    },
    retry: (name: string) => `Store ${name} now`,
    cancel: (name: string) => `Cancel the upload of ${name}`,
  },

  tokens: {
    title: 'Access tokens',
    empty: 'No access tokens.',
    unnamed: 'No label',
    issue: 'Issue a token',
    issueAction: 'Issue',
    label: 'Label (optional)',
    labelHint: 'For example, the device that uses it.',
    permits: 'Permits',
    inherited: 'As much as your own access token',
    presets: {
      all: ['Everything', 'Also to share files, and to make other tokens.'],
      camera: [
        'Upload new files',
        'For a camera: it can neither see, replace nor delete anything.',
      ],
      read: ['Read files', 'Download and list them.'],
      sync: [
        'Read, upload, replace and delete files',
        'For a program that keeps a folder in step.',
      ],
    },
    prefix: 'Only file names that begin with (optional)',
    prefixHint: 'For example, camera-17/',
    evicts: 'When the repository is full, make room',
    evictsHint:
      'The oldest files with these names are deleted for each new one. A camera never stops.',
    evicting: 'makes room when full',
    actions: {
      read: 'read',
      create: 'upload new files',
      replace: 'replace',
      delete: 'delete',
      history: 'earlier versions',
      share: 'share',
    },
    within: (prefix: string) => `names that begin with “${prefix}”`,
    ofDevice: (id: string) => `device ${id}`,
    everything: 'everything',
    term: 'Valid for',
    days: (days: number) =>
      days === 0
        ? 'Until it is revoked'
        : days === 1
          ? '1 day'
          : days === 365
            ? '1 year'
            : `${days} days`,
    issued: 'Token issued',
    once: 'Copy it or scan the code now. It is not shown again.',
    code: 'QR code of the token',
    copy: 'Copy token',
    copied: 'Token copied.',
    notCopied: 'Your browser did not allow copying. Select the token and copy it.',
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
  },

  stay: {
    title: 'How long it stays',
    keep: 'Keep it',
    keepHint: 'Uploads of devices that make room do not delete it.',
    expires: 'Deleted automatically on (optional)',
    expiresHint: 'At the end of this day. It cannot be restored afterwards.',
    action: 'Save',
  },

  access: {
    title: 'Links and devices',
    hint: 'Give each device and program a token of its own, which permits only what it needs.',
    valid: 'Devices and programs',
    connect: 'Connect a device',
  },

  problems: OWN_DETAILS,
}

/** In the language that the page is shown in; English until `showMessages` is called. */
export let messages: Messages = english

/** Called once, before any module that reads `messages` is loaded. */
export function showMessages(chosen: Messages): void {
  messages = chosen
}
