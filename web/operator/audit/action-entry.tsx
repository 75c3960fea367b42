import { Fragment } from 'preact'
import type { OperatorAction } from '../../../packages/js/src/admin.ts'
import { formatBytes, formatTime, formatWholeTime } from '../../shared/format.ts'
import { Icon, type IconName } from '../../shared/icon.tsx'
import { ShownName } from '../../shared/shown-name.tsx'
import { operatorWords } from '../words.ts'
import { addressOf } from '../route.ts'
import { words } from './words.ts'

export interface ActionEntryProps {
  readonly entry: OperatorAction
  /** Whether it names the user, who is in the title of a user's trail. */
  readonly namesUser: boolean
}

export function ActionEntry({ entry, namesUser }: ActionEntryProps) {
  const { at, action, user_id: userId, operator, details, address } = entry
  const who = [operator, address ?? words.commandLine].filter((name) => name !== null)
  const [subject = ''] = action.split('.')
  return (
    <li class="grant">
      <Icon name={ICONS[subject] ?? 'account'} />
      <div class="grant-words">
        <strong>{nameOf(action)}</strong>
        <span class="quiet">
          <time dateTime={at}>{formatWholeTime(at)}</time>
          {namesUser && userId !== null && (
            <>
              {', '}
              <a href={addressOf(userId)}>{userId}</a>
            </>
          )}
          {[...termsOf(details), ...who].map((term, index) => (
            <Fragment key={index}>
              {', '}
              <ShownName name={term} />
            </Fragment>
          ))}
        </span>
      </div>
    </li>
  )
}

/** A later version of the service can have further actions. */
function nameOf(action: string): string {
  const names: Readonly<Record<string, string>> = words.actions
  return names[action] ?? action
}

type Details = OperatorAction['details']

/** Leaves out what says only how something was done. */
function termsOf(details: Details): readonly string[] {
  return Object.entries(details).flatMap(([name, value]) => {
    if (typeof value === 'boolean' || value === null || value === '') return []
    return [(FORMATS[name] ?? String)(value)]
  })
}

const STATUSES: Readonly<Record<string, string>> = operatorWords.statuses

const ROLES: Readonly<Record<string, string>> = operatorWords.roles

const SHARES: Readonly<Record<string, string>> = words.shares

const FORMATS: Readonly<Record<string, (value: string | number) => string>> = {
  role: (value) => ROLES[value] ?? String(value),
  status: (value) => STATUSES[value] ?? String(value),
  bytes: (value) => formatBytes(Number(value)),
  files: (value) => words.files(Number(value)),
  share: (value) => words.share(SHARES[value] ?? formatBytes(Number(value))),
  starts_at: (value) => operatorWords.grants.from(formatTime(String(value))),
  ends_at: (value) => operatorWords.grants.until(formatTime(String(value))),
}

/** By the part of an action's name before the dot. */
const ICONS: Readonly<Record<string, IconName>> = {
  access_token: 'lock',
  device: 'device',
  grant: 'gift',
  upload: 'upload',
  files: 'folder',
  file: 'document',
  history: 'history',
  link: 'share',
  webhook: 'retry',
  operator: 'account',
  session: 'signOut',
}
