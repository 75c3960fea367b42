import { formatBytes, formatCount, formatDuration } from '../shared/format.ts'

/** In English. They are not in `messages`, all of which the first visit of the users' page loads. */
export const operatorEnglish = {
  title: 'Administration',
  /** Further ones of `messages.problems`. */
  problems: {
    unauthorized: 'You are not signed in as an operator.',
    operator_forbidden: 'Your role does not permit this.',
    operator_exists: 'This operator already exists.',
    operator_count_exceeded: 'The maximum number of operators is reached. Remove some first.',
    user_exists: 'This account already exists.',
    webhook_failed: 'The receiver did not accept the event.',
  },
  signIn: {
    title: 'Sign in as operator',
    explanation:
      'Your token as an operator, or the ADMIN_TOKEN of this deployment, which gives full control. You stay signed in ' +
      'for 12 hours, or until you sign out.',
    label: 'Token',
    needed: 'Enter a token.',
    notKept: 'Your browser did not keep the token. Allow cookies for this address and try again.',
    reasons: {
      unauthorized: 'This is not the admin token of this deployment, nor that of an operator.',
      too_many_requests: 'Too many failed attempts. Try again in a few minutes.',
      ended: 'You were signed out: your session ended, or your token is no longer valid.',
    },
  },
  roles: { viewer: 'Viewer', support: 'Support', admin: 'Administrator' },
  operators: {
    title: 'Operators',
    self: (name: string, role: string) => `${name} (${role})`,
    empty: 'No operators. Only the ADMIN_TOKEN is known.',
    add: 'Add an operator',
    addAction: 'Add',
    name: 'Name',
    nameHint: '1 to 64 lower-case letters, digits or . _ -',
    role: 'Role',
    roleHints: {
      viewer: 'Sees everything, and changes nothing.',
      support: 'Also changes the status, tokens, links, files and history of users.',
      admin: 'May do everything.',
    },
    since: (time: string) => `since ${time}`,
    token: 'Token',
    added: 'Operator added',
    once: 'This token is shown only now. Give it to the operator over a safe way.',
    copy: { copy: 'Copy', copied: 'Copied.', notCopied: 'Select the token and copy it.' },
    done: 'Done',
    remove: 'Remove',
    removeNamed: (name: string) => `Remove ${name}`,
    removeTitle: 'Remove this operator?',
    removeText: 'The token and all sessions end at once.',
  },
  statuses: { active: 'Active', suspended: 'Suspended', deleted: 'Being deleted' },
  views: { title: 'Views', overview: 'Overview', users: 'Users' },

  overview: {
    title: 'Overview',
    clockAhead: (seconds: number) =>
      `The clock is ahead by ${formatDuration(seconds)}, or the service was down. What has ended only since then ` +
      'stays until the clock has proved right.',
    users: 'Users',
    others: ({ suspended, deleted }: { suspended: number; deleted: number }) =>
      [
        suspended === 0 ? '' : `${formatCount(suspended)} suspended`,
        deleted === 0 ? '' : `${formatCount(deleted)} being deleted`,
      ]
        .filter(Boolean)
        .join(', '),
    files: 'Files',
    used: 'Stored',
    reserved: 'Being uploaded',
    garbage: 'To be removed',
    history: 'History',
    versions: (count: number) => (count === 1 ? '1 version' : `${formatCount(count)} versions`),
    webhooks: 'Events to deliver',
    parked: (count: number) => (count === 0 ? '' : `${formatCount(count)} not delivered`),
    growth: 'Last 30 days',
    noGrowth: 'The charts begin tomorrow.',
    change: (sign: number, size: string) =>
      sign === 0 ? 'No change' : `${sign > 0 ? '+' : '−'}${size}`,
    grew: ({ title, from, to }: { title: string; from: string; to: string }) =>
      `${title} in the last 30 days, from ${from} to ${to}`,
    fullest: 'Fullest users',
    largest: 'Largest users',
    noFiles: 'No user has files.',
  },

  instance: {
    title: 'The instance that answers',
    version: (version: string) => `Version ${version}`,
    uptime: (age: string) => `Up for ${age}`,
    free: (size: string) => `${size} free`,
    freeForDatabase: (size: string) => `${size} free for the database`,
    freeForObjects: (size: string) => `${size} free for files`,
    lastBackup: (age: string) => `Last backup: ${age} ago`,
    noBackup: 'Last backup: none',
    settings: (count: number) => `Settings (${count} set)`,
    settingsTitle: 'Settings in force',
    defaults: (count: number) => `${count} as by default`,
    allDefault: 'All are as by default.',
    secret: 'secret',
    notSet: 'not set',
  },

  userFiles: {
    title: (userId: string) => `Files of ${userId}`,
    find: 'Search by name',
    empty: (text: string) => (text === '' ? 'No files.' : `No name contains “${text}”`),
    delete: 'Delete',
    deleteTitle: 'Delete this file?',
    deleteText: (userId: string) =>
      `${userId} loses it at once. If the service keeps a history, it can be restored from there.`,
  },

  users: {
    title: 'Users',
    id: 'User',
    used: 'Used',
    of: (used: string, capacity: string) => `${used} of ${capacity}`,
    files: 'Files',
    since: 'Since',
    status: 'Status',
    orders: { user_id: 'Id', '-created_at': 'Newest first', created_at: 'Oldest first' },
    find: 'Search by id or device',
    none: (userId: string) => `User “${userId}” does not exist.`,
    noMatch: (text: string) => `No id and no device contains “${text}”`,
    empty: 'No users yet',
    emptyHint: 'Create one here, with the admin API or with the command line.',
    make: 'New user',
    makeAction: 'Create user',
    newId: 'Id',
    newIdHint: '1 to 64 letters, digits, - or _. Leave empty to generate one.',
  },

  user: {
    back: 'All users',
    used: 'Used',
    reserved: 'Being uploaded',
    available: 'Free',
    capacity: 'Capacity',
    files: 'Files',
    since: 'Since',
    deleted: 'This user is being deleted, including all files.',
    showFiles: 'Files',
    suspend: 'Suspend',
    suspendTitle: 'Suspend this user?',
    suspendText:
      'Their tokens stop working and their shared files are hidden until you reactivate them. Nothing is deleted.',
    activate: 'Reactivate',
    activateTitle: 'Reactivate this user?',
    activateText:
      'Their tokens and shared links work again, except those that were made with JWTs.',
    remove: 'Delete user',
    removeTitle: 'Delete this user?',
    removeText: (count: string) =>
      `Their files (${count}), tokens, devices and grants are deleted. This can’t be undone.`,
    confirm: (userId: string) => `Type ${userId} to confirm`,
    removed: (userId: string) => `“${userId}” is being deleted.`,
  },

  devices: {
    title: 'Devices',
    empty: 'No devices.',
    add: 'Add a device',
    addAction: 'Add',
    id: 'Device id',
    idHint: '1 to 128 letters, digits or . _ : @ -',
    model: 'Model (optional)',
    bytes: 'Capacity (optional)',
    bytesHint: 'What it adds to the account. Leave empty to use the default for that model.',
    label: 'Name (optional)',
    labelHint: 'As people know it.',
    share: 'It may store',
    shares: {
      default: 'As the service is set',
      all: 'As much as the account has',
      own: 'As much as it adds itself',
      fixed: 'A fixed size',
    },
    shareHint: 'If it has more already, it only stores no more.',
    fixed: 'Size',
    adds: (bytes: string) => `+${bytes}`,
    change: 'Change',
    changeNamed: (deviceId: string) => `Change ${deviceId}`,
    changeTitle: 'Change this device',
    changeAction: 'Save',
    remove: 'Remove',
    removeNamed: (deviceId: string) => `Remove ${deviceId}`,
    removeTitle: 'Remove this device?',
    removeText: (bytes: string) =>
      `The capacity shrinks by ${bytes}. No file is deleted, but a user over capacity cannot upload.`,
  },

  webhooks: {
    title: 'Events that could not be delivered',
    empty: 'No such events.',
    name: (type: string, userId: string) => `${type} of ${userId}`,
    again: 'Send again',
    againNamed: (id: string) => `Send ${id} again`,
    discard: 'Discard',
    discardNamed: (id: string) => `Discard ${id}`,
    discardTitle: 'Discard this event?',
    discardText: 'The receiver of webhooks will never get it.',
  },

  history: {
    hint: 'The newest 100 files that the user has replaced or deleted, or those of one name.',
    show: 'Show',
    find: 'Exact file name',
  },

  uploads: {
    title: 'Unfinished uploads',
    empty: 'No unfinished uploads.',
    states: {
      open: 'interrupted',
      receiving: 'receiving bytes',
      complete: 'received, but not stored',
    },
    discard: 'Discard',
    discardNamed: (name: string) => `Discard ${name}`,
    discardTitle: 'Discard this upload?',
    discardText: (bytes: string) =>
      `The ${bytes} that have arrived are deleted, and the reserved space is released.`,
  },

  grants: {
    title: 'Other grants',
    empty: 'No other grants.',
    add: 'Grant capacity',
    addAction: 'Grant',
    bytes: 'Capacity',
    source: 'Source',
    usualSource: 'support',
    sourceHint: 'The reason, such as promotion, purchase or support.',
    reference: 'Reference',
    referenceHint: 'For example, an order number. An existing reference updates that grant.',
    end: 'Last day (optional)',
    endHint: 'Leave empty if the grant has no end.',
    from: (time: string) => `from ${time}`,
    since: (time: string) => `since ${time}`,
    until: (time: string) => `until ${time}`,
    ended: (time: string) => `ended ${time}`,
    forEver: 'no end',
    revoke: 'Revoke',
    revokeNamed: (reference: string) => `Revoke ${reference}`,
    revokeTitle: 'Revoke this grant?',
    revokeIdle: 'This grant is not in force, so the capacity stays the same.',
  },

  service: {
    title: 'Service',
    health: 'Health',
    parts: { database: 'Database', object_store: 'Object store' },
    states: { ok: 'OK', failing: 'Failing', stopping: 'Shutting down', unknown: 'Unknown' },
    collecting: '…',
    received: 'Received',
    sent: 'Sent',
    uploads: 'Uploads per minute',
    refusals: 'Refusals per minute',
    bytesPerSecond: (value: number) => `${formatBytes(value)}/s`,
    chart: (title: string, most: string) => `${title} over time, maximum ${most}`,
    ago: (age: string) => `${age} ago`,
    now: 'now',
    uploaded: ({ running, bytes }: { running: number; bytes: number }) =>
      `${formatCount(running)} in progress, ${formatBytes(bytes)}`,
    refused: ({ code, count }: { code: string; count: number }) =>
      `${formatCount(count)} × ${code}`,
    thisInstance: 'This instance',
    allInstances: 'All instances',
    running: 'Uploads in progress',
    expected: 'Bytes of these uploads',
    garbage: 'Objects to be removed',
  },
}

export type OperatorMessages = typeof operatorEnglish
