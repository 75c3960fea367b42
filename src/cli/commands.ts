import { parseByteSize } from '../core/byte-size.ts'
import { parseDuration } from '../core/duration.ts'
import { invalidParameter } from '../core/errors.ts'
import { type DeviceShare, parseDeviceShare } from '../core/quota/device-share.ts'
import type { Json } from './admin.ts'
import type { Command, Flags } from './command.ts'
import { ARCHIVE } from './commands/archive.ts'
import { BACKUP, COPY_PACK, RESTORE } from './commands/backup.ts'
import { overviewText } from './commands/overview.ts'
import { REBUILD } from './commands/rebuild.ts'
import { RELEASE } from './commands/release.ts'
import { SWEEP } from './commands/sweep.ts'
import { VERIFY } from './commands/verify.ts'

const PAGE = '[--limit ...] [--cursor ...]'

const TOKEN =
  'token_id label scope.actions=all scope.prefix scope.device_id scope.when_full=refuse created_at expires_at'

/** All but `serve` and `doctor`, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  {
    usage: 'users create [user_id]',
    summary: 'create a user; the id is generated if none is given',
    calls: [
      ['PUT', '/admin/users/{user_id}'],
      ['POST', '/admin/users'],
    ],
  },
  {
    usage: `users list [--prefix ...] [--contains ...] [--order ...] ${PAGE}`,
    summary: 'list users and their usage',
    calls: [['GET', '/admin/users']],
  },
  {
    usage: 'users show <user_id>',
    summary: 'show the status and usage of a user, also of one that is being deleted',
    calls: [['GET', '/admin/users/{user_id}']],
  },
  {
    usage: 'users suspend <user_id>',
    summary: 'refuse all requests from a user, but keep the files',
    calls: [['PATCH', '/admin/users/{user_id}']],
    input: () => ({ status: 'suspended' }),
  },
  {
    usage: 'users activate <user_id>',
    summary: 'end the suspension of a user',
    calls: [['PATCH', '/admin/users/{user_id}']],
    input: () => ({ status: 'active' }),
  },
  {
    usage: 'users delete <user_id>',
    summary: 'delete a user; the sweeper purges the files',
    calls: [['DELETE', '/admin/users/{user_id}']],
  },
  {
    usage:
      'tokens issue <user_id> [--label ...] [--expires-in ...] [--actions ...] [--prefix ...] [--device ...] [--when-full ...]',
    summary: 'issue an access token, which is shown only once',
    calls: [['POST', '/admin/users/{user_id}/access-tokens']],
    input: tokenTerms,
    columns: `access_token ${TOKEN}`,
  },
  {
    usage: `tokens list <user_id> ${PAGE}`,
    summary: 'list the access tokens of a user, without their secrets',
    calls: [['GET', '/admin/users/{user_id}/access-tokens']],
    columns: `${TOKEN} revoked_at last_used_at`,
  },
  {
    usage: 'tokens revoke <user_id> <token_id>',
    summary: 'revoke an access token',
    calls: [['DELETE', '/admin/users/{user_id}/access-tokens/{token_id}']],
  },
  {
    usage:
      'devices add <user_id> <device_id> [--model ...] [--bytes ...] [--label ...] [--share ...]',
    summary: 'add a device, which increases the capacity, or change all its terms',
    calls: [['PUT', '/admin/users/{user_id}/devices/{device_id}']],
    input: ({ model, bytes, label, share }) => ({
      model,
      bytes: bytesIn(bytes),
      label,
      share: shareIn(share),
    }),
  },
  {
    usage: 'devices remove <user_id> <device_id>',
    summary: 'remove a device, which reduces the capacity',
    calls: [['DELETE', '/admin/users/{user_id}/devices/{device_id}']],
  },
  {
    usage: `devices list <user_id> ${PAGE}`,
    summary: 'list the devices of a user',
    calls: [['GET', '/admin/users/{user_id}/devices']],
  },
  {
    usage:
      'grants add <user_id> <source> <reference> --bytes ... [--starts-at ...] [--ends-at ...]',
    summary: 'grant capacity for a reason other than a device',
    calls: [['PUT', '/admin/users/{user_id}/grants/{source}/{reference}']],
    input: ({ bytes, 'starts-at': starts_at, 'ends-at': ends_at }) => ({
      bytes: bytesIn(bytes),
      starts_at,
      ends_at,
    }),
  },
  {
    usage: 'grants revoke <user_id> <source> <reference>',
    summary: 'revoke a grant that is not a device',
    calls: [['DELETE', '/admin/users/{user_id}/grants/{source}/{reference}']],
  },
  {
    usage: `grants list <user_id> ${PAGE}`,
    summary: 'list all grants of a user, including devices',
    calls: [['GET', '/admin/users/{user_id}/grants']],
  },
  {
    usage: `files list <user_id> [--prefix ...] [--contains ...] [--device ...] [--delimiter ...] [--folder-totals] [--order ...] ${PAGE}`,
    summary: 'list the files of a user, also of a suspended one',
    calls: [['GET', '/admin/users/{user_id}/files']],
    input: ({ device: device_id, ...flags }, switches) => ({
      ...flags,
      device_id,
      folder_totals: switches.has('folder-totals') ? true : undefined,
    }),
    columns: 'name size visibility device_id version updated_at expires_at',
  },
  {
    usage: 'files delete <user_id> <file_name>',
    summary: 'delete a file of a user, also of a suspended one; it becomes history',
    calls: [['DELETE', '/admin/users/{user_id}/files/{file_name}']],
  },
  ARCHIVE,
  {
    usage: `uploads list <user_id> ${PAGE}`,
    summary: 'list the unfinished resumable uploads of a user, oldest first',
    calls: [['GET', '/admin/users/{user_id}/uploads']],
  },
  {
    usage: 'uploads cancel <user_id> <upload_id>',
    summary: 'cancel an unfinished upload, which releases its reservation',
    calls: [['DELETE', '/admin/users/{user_id}/uploads/{upload_id}']],
  },
  RELEASE,
  {
    usage: `history list <user_id> [--name ...] [--prefix ...] ${PAGE}`,
    summary: 'list the files that a user has replaced or deleted, newest end first',
    calls: [['GET', '/admin/users/{user_id}/history']],
    columns: 'version name size ended_as ended_at expires_at',
  },
  {
    usage: 'history restore <user_id> <version> [--overwrite] [--name ...]',
    summary: 'make a version the current file of a user again',
    calls: [['POST', '/admin/users/{user_id}/history/{version}/restore']],
    input: ({ name }, switches) => ({ name, overwrite: switches.has('overwrite') }),
  },
  {
    usage: `links list <user_id> ${PAGE}`,
    summary: 'list the links of a user, oldest first, without their secrets',
    calls: [['GET', '/admin/users/{user_id}/links']],
  },
  {
    usage:
      'links change <user_id> <link_id> [--label ...] [--expires-at ...] [--max-uses ...] [--max-bytes ...] [--max-files ...] [--no-password]',
    summary: 'change a link of a user',
    calls: [['PATCH', '/admin/users/{user_id}/links/{link_id}']],
    input: linkChanges,
  },
  {
    usage: 'links revoke <user_id> <link_id>',
    summary: 'revoke a link of a user',
    calls: [['DELETE', '/admin/users/{user_id}/links/{link_id}']],
  },
  {
    usage: `webhooks parked ${PAGE}`,
    summary: 'list the events that could not be delivered for 24 hours',
    calls: [['GET', '/admin/webhooks/parked']],
  },
  {
    usage: 'webhooks retry <webhook_id>',
    summary: 'send a parked event once more',
    calls: [['POST', '/admin/webhooks/parked/{webhook_id}/retry']],
  },
  {
    usage: 'webhooks discard <webhook_id>',
    summary: 'forget a parked event',
    calls: [['DELETE', '/admin/webhooks/parked/{webhook_id}']],
  },
  {
    usage: 'overview',
    summary:
      'show the version, free disk, settings, and the figures of all users and the last 30 days',
    calls: [['GET', '/admin/overview']],
    text: overviewText,
  },
  {
    usage: 'operators add <name> --role ...',
    summary: 'add an operator, whose token is shown only once',
    calls: [['POST', '/admin/operators']],
  },
  {
    usage: `operators list ${PAGE}`,
    summary: 'list the operators, without their tokens',
    calls: [['GET', '/admin/operators']],
  },
  {
    usage: 'operators show <name>',
    summary: 'show the role of an operator',
    calls: [['GET', '/admin/operators/{name}']],
  },
  {
    usage: 'operators remove <name>',
    summary: 'remove an operator, whose token and sessions end at once',
    calls: [['DELETE', '/admin/operators/{name}']],
  },
  {
    usage: `audit [--user ...] [--operator ...] ${PAGE}`,
    summary: 'list what operators did, newest first',
    calls: [['GET', '/admin/audit']],
    input: ({ user: user_id, ...flags }) => ({ user_id, ...flags }),
    columns: 'at action user_id operator address details',
  },
  SWEEP,
  BACKUP,
  RESTORE,
  COPY_PACK,
  VERIFY,
  REBUILD,
  {
    usage: 'migrate',
    summary: 'migrate the database to this version (the service does so when it starts)',
    // Opening the services already migrates.
    run: async () => undefined,
  },
]

function bytesIn(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseByteSize(text)
}

function shareIn(text: string | undefined): DeviceShare | undefined {
  return text === undefined ? undefined : parseDeviceShare(text)
}

function linkChanges(flags: Flags, switches: ReadonlySet<string>): Json {
  const { label, 'expires-at': expires_at, 'max-uses': uses, 'max-files': files } = flags
  return {
    label,
    expires_at: unlessNone(expires_at, String),
    max_uses: unlessNone(uses, Number),
    max_bytes: unlessNone(flags['max-bytes'], parseByteSize),
    max_files: unlessNone(files, Number),
    password: switches.has('no-password') ? null : undefined,
  }
}

function unlessNone<T>(text: string | undefined, parse: (text: string) => T): T | null | undefined {
  return text === 'none' ? null : text === undefined ? undefined : parse(text)
}

function tokenTerms({
  label,
  actions,
  prefix,
  device: device_id,
  'expires-in': expiresIn,
  'when-full': when_full,
}: Flags): Json {
  const isNarrow = (actions ?? prefix ?? device_id ?? when_full) !== undefined
  const scope = { actions: actions?.split(','), prefix, device_id, when_full }
  return { label, expires_in: secondsIn(expiresIn), scope: isNarrow ? scope : undefined }
}

/** Digits alone are seconds, as in the admin API. */
function secondsIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seconds = /^\d+$/.test(text) ? Number(text) : parseDuration(text) / 1000
  if (!Number.isNaN(seconds)) return seconds
  const rule = 'must be a duration such as 90min, 24h or 7d, or a number of seconds'
  throw invalidParameter('expires_in', `expires_in ${rule}.`)
}
