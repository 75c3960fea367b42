import { MAX_LABEL_LENGTH } from '../core/auth/terms.ts'
import { ACTIONS, WHEN_FULL } from '../core/auth/scope.ts'
import { MAX_KEPT_COPIES } from '../core/backup/kept-copies.ts'
import { FILE_ORDERS } from '../core/files/listing.ts'
import { OPERATOR_ROLES, ROLE_MEANINGS } from '../core/operators/operator.ts'
import { DEFAULT_PAGE_LIMIT, MAX_PAGE_LIMIT } from '../core/pagination.ts'
import { ACCOUNT_ORDERS } from '../core/users/account-ledger.ts'

/**
 * What the option of a command does and, if it takes a value, which ones. `words` are those of the command. Throws
 * `TypeError` for an option without a meaning.
 */
export function meaningOf(option: string, words: readonly string[]): string {
  const [group = ''] = words
  const found = [words.join(' '), group, ''].flatMap((place) => MEANINGS[place]?.[option] ?? [])
  const [meaning] = found
  if (meaning === undefined) throw new TypeError(`No meaning: ${words.join(' ')} --${option}`)
  return meaning
}

const SIZE = 'a size such as 500MB or 2GiB, or a number of bytes'
const TIME = 'in RFC 3339, such as 2027-07-01T00:00:00Z'

/** By the command, by its group, or of all commands. */
const MEANINGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '': {
    limit: `how many entries: 1 to ${MAX_PAGE_LIMIT}, by default ${DEFAULT_PAGE_LIMIT}`,
    cursor: 'where to continue: what the previous page has printed',
    prefix: 'only names that begin with this, such as camera-17/',
    label: `a text for people, of at most ${MAX_LABEL_LENGTH} characters`,
    json: 'print JSON for programs, with exact sizes in bytes',
  },
  serve: {
    demo: 'create a demo user, and print how to use the service',
    'print-token': 'with --demo: print the access token also if the output is not a terminal',
  },
  'users list': {
    prefix: 'only ids that begin with this',
    contains: 'only users with this in their id, or in the id or label of a device, in any case',
    order: `${ACCOUNT_ORDERS.join(', ')}; by default user_id`,
  },
  'tokens issue': {
    'expires-in':
      'how long the token is valid: 90min, 24h, 7d, or a number of seconds; by default for ever',
    actions: `what it permits, separated by commas: ${ACTIONS.join(', ')}; by default all`,
    prefix: 'the only names that it reaches begin with this, such as camera-17/',
    device: 'the id of the device that it belongs to',
    'when-full': `what an upload does that does not fit: ${WHEN_FULL.join(', ')}; by default refuse`,
  },
  devices: {
    model: 'a model of DEVICE_MODELS, which says how much capacity the device adds',
    bytes: `how much capacity it adds instead: ${SIZE}`,
    share: `how much of the account its files may take: all, own (what it adds), or ${SIZE}`,
  },
  grants: {
    bytes: `how much capacity: ${SIZE}`,
    'starts-at': `the time from which the grant counts, ${TIME}; by default now`,
    'ends-at': `the time until which it counts, ${TIME}; by default for ever`,
  },
  files: {
    contains: 'only names that contain this, in upper or lower case',
    device: 'only files of the device with this id',
    delimiter: 'roll up names as folders up to this character, such as /',
    'folder-totals': 'with --delimiter: tell the size of each folder',
    order: `${FILE_ORDERS.join(', ')}; by default name`,
  },
  'uploads release': { finished: 'required, so that the command is not run by mistake' },
  'history list': { name: 'only versions of the file with this name' },
  'history restore': {
    name: 'the name to restore it under; by default its own',
    overwrite: 'also in place of another file with this name',
  },
  'links change': {
    'expires-at': `when the link ends, ${TIME}; none: never`,
    'max-uses': 'how often the content may be downloaded, a number; none: without limit',
    'max-bytes': `how much a drop link receives: ${SIZE}; none: without limit`,
    'max-files': 'how many files a drop link receives, a number; none: without limit',
    'no-password': 'remove the password',
  },
  'operators add': {
    role: OPERATOR_ROLES.map((role) => `${role} (${ROLE_MEANINGS[role]})`).join(', '),
  },
  audit: {
    user: 'only what concerns the user with this id',
    operator: 'only what the operator with this name did',
  },
  backup: {
    keep: `how many of the newest copies stay, 1 to ${MAX_KEPT_COPIES}; by default BACKUP_KEEP`,
    check: 'read all copies and every object, and change nothing',
  },
  restore: { copy: 'the name of the copy; by default the newest one' },
  sweep: { 'trust-clock': 'end the wait after a wrong clock; the clock must be right' },
  verify: {
    repair: 'fix the differences that can be fixed',
    deep: 'read every file, and compare its digest',
    sample: 'read about one file in this many, a number of at least 1',
    metrics: 'print the result as metrics, in the text format of Prometheus',
    'adopt-store': 'make the object store the one that the database knows',
  },
  rebuild: {
    'dry-run': 'count users and files, and record nothing',
    'skip-unreadable': 'leave out objects that the object store does not deliver',
  },
}
