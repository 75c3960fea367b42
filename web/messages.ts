import { LANGUAGE } from './language.ts'
import type { Order, Visibility } from './shared/model.ts'
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatNeed,
  formatTime,
  formatWholeTime,
} from './shared/format.ts'

/** All that the pages say. Another language is another object of this type. */
export type Texts = typeof english

const files = (count: number): string => (count === 1 ? '1 file' : `${formatCount(count)} files`)

const english = {
  product: 'Cloud Repository',
  connectionLost: 'No connection. Trying again …',
  close: 'Close',
  cancel: 'Cancel',
  undo: 'Undo',
  retry: 'Try again',
  failed: (detail: string) => `That did not work: ${detail}`,

  signIn: {
    title: 'Sign in',
    explanation:
      'An access token opens your repository. It begins with crt_ and comes from whoever runs this service for you, or from the ' +
      'device that you paired. Treat it like a password: this page hands it to your browser, which keeps it where no script can read it.',
    label: 'Access token',
    show: 'Show the token',
    action: 'Sign in',
    signOut: 'Sign out',
    needed: 'Enter your access token.',
    notKept: 'Your browser did not keep the token. Allow cookies for this address and try again.',
    reasons: {
      access_token_invalid:
        'This access token is not valid. It may be mistyped, expired or revoked.',
      two_access_tokens:
        'Your browser sent two different access tokens, so nothing was done with either: a page of another address may have ' +
        'left one, to get your files. Signing out removes both, and signing in the one that is not yours. If you see this ' +
        'again, delete the cookies of this address in your browser.',
      user_suspended: 'This account is suspended. Whoever runs the service can say why.',
      too_many_requests: 'There were too many wrong tokens from here. Try again in a few minutes.',
      ended: 'Your access token is no longer good, so you were signed out.',
    },
    link: {
      title: 'Sign in by this link?',
      warning:
        'This link signs you in with an access token that it brought along. What you upload then goes to the repository of ' +
        'whoever the token belongs to, so follow it only if you know where it comes from.',
      replaces: (user: string) =>
        `You are signed in as “${user}”. If you go on, that ends, and so do uploads that are under way.`,
      action: 'Sign in by the link',
      stay: (user: string) => `Stay signed in as ${user}`,
    },
    uploadsKept: (count: number) =>
      `${files(count)} that you were uploading are kept. Sign in and they go on.`,
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
    search: 'Find names that begin with …',
    upload: 'Upload files',
    uploadFolder: 'Upload a folder',
    loading: 'Loading …',
    empty: 'Nothing here yet',
    emptyHint: 'Drop files or a folder anywhere on this page, paste a picture, or choose files.',
    emptyHintForTouch: 'Choose files, or a whole folder, and they appear here.',
    noMatch: (prefix: string) => `No name begins with “${prefix}”`,
    dropHere: 'Drop to upload',
    download: (name: string) => `Download ${name}`,
    share: (name: string) => `Share ${name}`,
    rename: (name: string) => `Rename ${name}`,
    remove: (name: string) => `Delete ${name}`,
    more: (name: string) => `What to do with ${name}`,
    actions: { download: 'Download', share: 'Share', rename: 'Rename', remove: 'Delete' },
    time: formatTime,
    wholeTime: formatWholeTime,
  },

  visibility: {
    names: {
      private: 'Only you',
      users: 'All users',
      public: 'Anyone',
    } satisfies Record<Visibility, string>,
    explanations: {
      private: 'Nobody else can open it, with or without the link.',
      users: 'Whoever has the link and an access token of this service can download it.',
      public: 'Whoever has the link can download it.',
    } satisfies Record<Visibility, string>,
  },

  share: {
    title: 'Share',
    who: 'Who can download it',
    link: 'Link',
    copy: 'Copy link',
    copied: 'Link copied.',
    notCopied: 'Your browser did not let the link be copied. Select and copy it yourself.',
  },

  rename: {
    title: 'Rename',
    label: 'New name',
    action: 'Rename',
    replace: 'Replace it',
    taken: (name: string) => `There is a file “${name}” already.`,
    invalid: 'A name has 1 to 255 bytes and neither / nor \\ in it.',
    gone: 'The file is no longer there.',
  },

  removal: {
    pending: (name: string) => `“${name}” is being deleted in a few seconds.`,
    changed: (name: string) => `“${name}” has changed meanwhile, so it was kept.`,
  },

  capacity: {
    title: 'Capacity',
    used: 'Used',
    reserved: 'Being uploaded',
    free: 'Free',
    of: (used: number, capacity: number) => `${formatBytes(used)} of ${formatBytes(capacity)} used`,
    meter: (used: number, reserved: number, free: number) =>
      `${formatBytes(used)} used, ${formatBytes(reserved)} being uploaded, ${formatBytes(free)} free`,
    states: {
      normal: '',
      nearing: 'Getting full.',
      critical: 'Almost full.',
      exceeded: (bytes: number) =>
        `${formatNeed(bytes)} more than fits. Your files stay as they are; nothing new fits until there is room.`,
    },
    count: (count: number, most: number) => `${files(count)} of ${formatCount(most)} possible`,
    parts: 'What it is made of',
    base: 'Comes with your account',
    device: 'Device',
    until: (time: string) => `until ${formatTime(time)}`,
    stays: 'Stays as long as your account.',
    leaves: (left: number) => `Without it, ${formatBytes(left)} would stay free.`,
    leavesOver: (missing: number) =>
      `Without it, you would be ${formatNeed(missing)} over: your files stay, but nothing new fits.`,
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
    dismiss: (name: string) => `Take ${name} off the list`,
    retry: (name: string) => `Try ${name} again`,
    retryAll: 'Try all again',
    progress: 'Progress of all uploads',
    announce: (percent: number) => `${percent} % uploaded`,
    pasted: (time: Date, extension: string) =>
      `Pasted ${time.toISOString().slice(0, 19).replace('T', ' ').replaceAll(':', '.')}${extension}`,
    states: {
      waiting: 'Waiting',
      sending: (sent: number, size: number) => `${formatBytes(sent)} of ${formatBytes(size)}`,
      finishing: 'Being stored',
      done: 'Uploaded',
      exists: 'A file of this name is there already.',
      full: 'It does not fit.',
      lost: 'Connection lost. It is tried again by itself.',
      signedOut: 'Waits until you sign in again.',
    },
    replace: 'Replace',
    keepBoth: 'Keep both',
    skip: 'Skip',
    replaceAll: (count: number) => `Replace all ${formatCount(count)}`,
    skipAll: 'Skip all',
    full: (missing: number, available: number) =>
      `It does not fit: ${formatNeed(missing)} more would have to be free. ` +
      (available === 0
        ? 'The repository is full; delete something first.'
        : `Up to ${formatBytes(available)} would fit.`),
    fits: 'There is room for it now. Try it again.',
    fullTogether: (count: number, missing: number) =>
      `${files(count)} do not fit together. To take all, ${formatNeed(missing)} more would have to be free.`,
    fullMany: (count: number, missing: number) =>
      `${files(count)} ${count === 1 ? 'does' : 'do'} not fit. To take all, ${formatNeed(missing)} more would have to be free.`,
    refusals: {
      file_count_exceeded: 'There are as many files as there may be. Delete some first.',
      file_too_large: (most: number) => `It is too large: files have at most ${formatBytes(most)}.`,
      invalid_file_name: 'The service takes no file of this name. Rename it and try again.',
      given_up: 'It failed again and again. Try it again later.',
      unreadable: 'The file could not be read. It may have been moved or changed.',
    },
  },

  operator: {
    title: 'Administration',
    signIn: {
      title: 'Sign in as operator',
      explanation:
        'The admin token is the ADMIN_TOKEN of this deployment. It can do everything, so sign out when you are done; your browser keeps it ' +
        'for 12 hours, where no script can read it.',
      label: 'Admin token',
      needed: 'Enter the admin token.',
      notKept: 'Your browser did not keep the token. Allow cookies for this address and try again.',
      reasons: {
        unauthorized: 'This is not the admin token of this deployment.',
        too_many_requests:
          'There were too many wrong tokens from here. Try again in a few minutes.',
        ended: 'You were signed out, here or in another tab, or the admin token was changed.',
      },
    },
    statuses: { active: 'Active', suspended: 'Suspended', deleted: 'Being deleted' },

    users: {
      title: 'Users',
      id: 'User',
      used: 'Used',
      of: (used: string, capacity: string) => `${used} of ${capacity}`,
      files: 'Files',
      since: 'Since',
      status: 'Status',
      find: 'Find ids that begin with …',
      none: (userId: string) => `There is no user “${userId}”.`,
      noMatch: (prefix: string) => `No id begins with “${prefix}”`,
      more: 'Show more',
      empty: 'No users yet',
      emptyHint: 'Make one here, by the admin API or by the command line.',
      make: 'New user',
      makeAction: 'Make user',
      newId: 'Id',
      newIdHint: '1 to 64 letters, digits, - or _. Leave it empty and one is made up.',
    },

    user: {
      back: 'All users',
      used: 'Used',
      reserved: 'Being uploaded',
      available: 'Free',
      capacity: 'Capacity',
      files: 'Files',
      since: 'Since',
      deleted: 'This user is deleted. Their files are being removed.',
      suspend: 'Suspend',
      suspendTitle: 'Suspend this user?',
      suspendText:
        'Every request with one of their tokens is refused, and their public files are hidden, until you let them in again. Nothing is deleted.',
      activate: 'Let in again',
      activateTitle: 'Let this user in again?',
      activateText: 'Their tokens and public links work again.',
      remove: 'Delete user',
      removeTitle: 'Delete this user?',
      removeText: (count: string) =>
        `Their files (${count}), tokens, devices and grants are deleted. This can’t be undone.`,
      confirm: (userId: string) => `Type ${userId} to confirm`,
      removed: (userId: string) => `“${userId}” is being deleted.`,
    },

    forms: { unit: 'Unit' },

    devices: {
      title: 'Devices',
      empty: 'No devices.',
      add: 'Add a device',
      addAction: 'Add',
      id: 'Device id',
      idHint: '1 to 128 letters, digits or . _ : @ -',
      model: 'Model (optional)',
      bytes: 'Capacity (optional)',
      bytesHint: 'Leave it empty for what the service gives to devices of that model.',
      since: (time: string) => `since ${time}`,
      remove: 'Remove',
      removeNamed: (deviceId: string) => `Remove ${deviceId}`,
      removeTitle: 'Remove this device?',
      removeText: (bytes: string) =>
        `The capacity shrinks by ${bytes}. No file is deleted, but nothing new fits while more is used than there is.`,
    },

    grants: {
      title: 'Other grants',
      empty: 'No other grants.',
      add: 'Grant capacity',
      addAction: 'Grant',
      bytes: 'Capacity',
      source: 'Source',
      usualSource: 'support',
      sourceHint: 'Why: a word such as promotion, purchase or support.',
      reference: 'Reference',
      referenceHint:
        'Such as the number of an order. The same one again changes the grant and adds no second.',
      end: 'Last day (optional)',
      endHint: 'Without one, it stays in force until it is revoked.',
      from: (time: string) => `from ${time}`,
      since: (time: string) => `since ${time}`,
      until: (time: string) => `until ${time}`,
      ended: (time: string) => `ended ${time}`,
      forEver: 'without end',
      revoke: 'Revoke',
      revokeNamed: (reference: string) => `Revoke ${reference}`,
      revokeTitle: 'Revoke this grant?',
      revokeIdle: 'It is not in force. The capacity stays as it is.',
    },

    tokens: {
      title: 'Access tokens',
      empty: 'No access tokens.',
      unnamed: 'Without a label',
      issue: 'Issue a token',
      issueAction: 'Issue',
      label: 'Label (optional)',
      labelHint: 'What it is for, such as the device that gets it.',
      term: 'Good for',
      days: (days: number) =>
        days === 0
          ? 'Until it is revoked'
          : days === 1
            ? 'A day'
            : days === 365
              ? 'A year'
              : `${days} days`,
      issued: 'The token is issued',
      once: 'Copy it now: it is shown this once, and nobody can look it up later.',
      copy: 'Copy token',
      copied: 'Token copied.',
      notCopied: 'Your browser did not let the token be copied. Select and copy it yourself.',
      since: (time: string) => `issued ${time}`,
      until: (time: string) => `good until ${time}`,
      expired: (time: string) => `expired ${time}`,
      forEver: 'good until revoked',
      used: (time: string) => `last used ${time}`,
      unused: 'never used',
      revoked: (time: string) => `revoked ${time}`,
      revoke: 'Revoke',
      revokeNamed: (label: string) => `Revoke ${label}`,
      revokeTitle: 'Revoke this token?',
      revokeText: 'Whoever uses it is refused within seconds. This can’t be undone.',
    },

    service: {
      title: 'Service',
      health: 'Health of the parts',
      parts: { database: 'Database', object_store: 'Object store' },
      states: { ok: 'Answers', failing: 'Fails', stopping: 'Shutting down', unknown: 'Not known' },
      collecting: '…',
      received: 'Received',
      sent: 'Sent',
      uploads: 'Uploads in a minute',
      refusals: 'Refusals in a minute',
      bytesPerSecond: (value: number) => `${formatBytes(value)}/s`,
      chart: (title: string, most: string) => `${title} over time, ${most} at most`,
      most: (value: string) => `Highest: ${value}`,
      uploaded: ({ running, bytes }: { running: number; bytes: number }) =>
        `${formatCount(running)} under way, ${formatBytes(bytes)}`,
      refused: ({ code, count }: { code: string; count: number }) =>
        `${formatCount(count)} × ${code}`,
      scope: 'Of this instance, for at most the last 15 minutes.',
    },
  },
}

const TEXTS = { en: english } satisfies Record<string, Texts>

export const texts: Texts = TEXTS[LANGUAGE]
