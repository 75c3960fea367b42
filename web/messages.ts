import type { ErrorCode } from '../packages/js/src/errors.ts'
import type { AuditMessages } from './operator/audit/english.ts'
import type { MovesMessages } from './user/moves/english.ts'
import type { ViewerMessages } from './user/viewer/english.ts'
import type { ShortcutMessages } from './user/shortcuts/english.ts'
import type { LinkMessages } from './shared/link-english.ts'
import type { UnfinishedMessages } from './shared/unfinished-english.ts'
import type { VersionMessages } from './shared/versions/english.ts'
import type { SharingMessages } from './user/links/english.ts'
import type { VisitMessages } from './links/english.ts'
import type { OperatorMessages } from './operator/english.ts'
import type { Order } from './shared/model.ts'
import type { DeviceMessages } from './shared/devices/english.ts'
import type { TokenMessages } from './shared/tokens/english.ts'
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
  readonly tokens?: TokenMessages
  readonly sharing?: SharingMessages
  readonly devices?: DeviceMessages
  readonly moves?: MovesMessages
  readonly operator?: OperatorMessages
  readonly audit?: AuditMessages
  readonly shortcuts?: ShortcutMessages
  readonly viewer?: ViewerMessages
  readonly versions?: VersionMessages
  readonly unfinished?: UnfinishedMessages
}

const files = (count: number): string => (count === 1 ? '1 file' : `${formatCount(count)} files`)

const oneOrMany = (count: number, name: string): string =>
  count === 1 ? `“${name}” was` : `${files(count)} were`

const english = {
  product: 'Cloud Repository',
  outage: 'The service cannot be reached. Trying again …',
  close: 'Close',
  cancel: 'Cancel',
  undo: 'Undo',
  retry: 'Retry',
  showMore: 'Show more',
  unit: 'Unit',
  keyboard: 'Keyboard shortcuts',
  notLoaded: 'A part of the page could not be loaded. Try again, or reload the page.',
  failed: 'Something went wrong. Try again, or reload the page.',

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
    stay: (name: string) => `Automatic deletion of ${name}`,
    history: (name: string) => `Earlier versions of ${name}`,
    more: (name: string) => `Actions for ${name}`,
    actions: {
      select: 'Select',
      download: 'Download',
      share: 'Share',
      rename: 'Rename',
      move: 'Move',
      stay: 'Automatic deletion',
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

  /** Of a session whose access token has a scope. */
  limits: {
    title: 'Limited access',
    until: (time: string) => `until ${formatTime(time)}`,
    actions: {
      read: 'read',
      create: 'upload new files',
      replace: 'replace',
      delete: 'delete',
      history: 'earlier versions',
      share: 'share',
    },
    unseen: 'Your access token does not permit you to see the files.',
    shown: (prefix: string) => `You see only files whose names begin with “${prefix}”.`,
    uploaded: (prefix: string) =>
      `If the name of a new file does not begin with “${prefix}”, this is put in front of it.`,
  },

  /** Of files that others can see without a link. */
  visibility: { users: 'All users', public: 'Public' },

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

  history: { title: 'Deleted and earlier versions', back: 'All files' },

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
    devices: 'Devices and capacity',
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
    notUploaded: (count: number) => `${files(count)} ${count === 1 ? 'was' : 'were'} not uploaded`,
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

  /** Why the service did not store a file that has arrived. */
  notStored: {
    capacity_exceeded: 'The whole file has arrived, but there is not enough space.',
    file_count_exceeded:
      'The whole file has arrived, but you have reached the maximum number of files.',
    precondition_failed:
      'The whole file has arrived, but the existing file with this name has changed since.',
  },

  stay: {
    title: 'Automatic deletion',
    keep: 'Keep it',
    keepHint: 'Uploads of devices that make room do not delete it.',
    expires: 'Deleted automatically on (optional)',
    expiresHint: 'At the end of this day. It cannot be restored afterwards.',
    action: 'Save',
  },

  access: 'Links and devices',

  invalidValue: (parameter: string) => `The value of “${parameter}” is not valid.`,

  /** By the code of a refusal: the details of the service are for programmers. `operator` has those of operators. */
  problems: {
    format_error: 'The service could not read the request.',
    missing_file_part: 'The request has no file.',
    multiple_file_parts: 'The request has more than one file.',
    truncated_body: 'The request arrived incomplete.',
    invalid_file_name: 'This file name is not allowed.',
    invalid_parameter: 'A value is not valid.',
    digest_mismatch: 'The file arrived damaged.',
    archive_too_large: 'The archive would be too large.',
    access_token_missing: 'You are not signed in.',
    access_token_invalid: 'The access token is not valid.',
    scope_insufficient: 'Your access token does not permit this.',
    access_token_limit_exceeded:
      'The maximum number of access tokens is reached. Revoke some first.',
    capacity_exceeded: 'There is not enough space.',
    file_count_exceeded: 'The maximum number of files is reached.',
    link_count_exceeded: 'The maximum number of links is reached. Revoke some first.',
    link_limit_exceeded: 'The link takes no more files, or no files of this size.',
    link_password_invalid: 'This is not the password of the link.',
    user_suspended: 'This account is suspended.',
    cross_site_request: 'The request came from another website and was refused.',
    not_found: 'This does not exist, or no longer.',
    method_not_allowed: 'The service does not support this request.',
    request_timeout: 'The request took too long.',
    file_exists: 'This name is taken.',
    precondition_failed: 'The file has changed meanwhile.',
    file_too_large: 'The file is too large.',
    request_head_too_large: 'The request is too large.',
    range_not_satisfiable: 'The file has no such part.',
    tus_version_unsupported: 'The service does not support this kind of upload.',
    unsupported_media_type: 'The service does not support this kind of data.',
    offset_mismatch: 'The upload is at another point than expected.',
    upload_gone: 'This upload no longer exists.',
    version_gone: 'This version no longer exists.',
    cursor_expired: 'The list is outdated. Reload the page.',
    upload_length_exceeded: 'More data arrived than announced.',
    upload_busy: 'This file is being uploaded elsewhere.',
    checksum_mismatch: 'A part of the file arrived damaged.',
    unfinished_uploads_exceeded: 'You have too many unfinished uploads.',
    too_many_requests: 'Too many requests. Try again a little later.',
    link_password_required: 'The link needs a password.',
    internal_error: 'The service has had an error.',
    unavailable: 'The service is not available now. Try again a little later.',
    insufficient_storage: 'The service has too little storage now.',
    invalid_url: 'The address of the service is not valid.',
    connection_lost: 'The connection to the service was lost.',
    unexpected_response: 'The response is not from the service.',
    file_changed: 'The file has changed meanwhile.',
    outcome_unknown: 'The response was lost. Check whether the change was made.',
    upload_superseded: 'The file was stored, and has been replaced, renamed or deleted since.',
  } satisfies Record<Exclude<ErrorCode, keyof OperatorMessages['problems']>, string>,
}

/** In the language that the page is shown in; English until `showMessages` is called. */
export let messages: Messages = english

/** Called once, before any module that reads `messages` is loaded. */
export function showMessages(chosen: Messages): void {
  messages = chosen
}
