import { formatBytes, formatCount, formatTime } from '../shared/format.ts'
import { operatorWords } from './words.ts'
import { ShownName } from '../shared/shown-name.tsx'
import type { ListedUser, User } from '../../packages/js/src/admin.ts'
import { addressOf } from './route.ts'
import { StatusBadge } from './status-badge.tsx'

const words = operatorWords.users

export function UserTable({ users }: { readonly users: readonly ListedUser[] }) {
  return (
    <table class="users" aria-label={words.title}>
      <thead>
        <tr>
          <th scope="col">{words.id}</th>
          <th scope="col">{words.used}</th>
          <th scope="col" class="wide-cell">
            {words.files}
          </th>
          <th scope="col" class="wide-cell">
            {words.since}
          </th>
          <th scope="col">{words.status}</th>
        </tr>
      </thead>
      <tbody>
        {users.map((account) => (
          <UserRow key={account.user_id} account={account} />
        ))}
      </tbody>
    </table>
  )
}

function UserRow({ account }: { readonly account: ListedUser }) {
  const { user_id: userId, status, created_at: since, capacity: figures } = account
  const device = account.matched_device
  return (
    <tr>
      <th scope="row">
        <a class="name" href={addressOf(userId)} title={userId}>
          <ShownName name={userId} />
        </a>
        {device !== undefined && (
          <span class="quiet">
            <ShownName name={device.label ?? device.device_id} />
          </span>
        )}
      </th>
      <td>
        <UseBar figures={figures} />
      </td>
      <td class="wide-cell figure">{formatCount(figures.file_count)}</td>
      <td class="wide-cell figure">
        <time dateTime={since}>{formatTime(since)}</time>
      </td>
      <td>
        <StatusBadge status={status} />
      </td>
    </tr>
  )
}

/** The text has all figures; the bar is decorative. */
export function UseBar({ figures }: { readonly figures: User['capacity'] }) {
  const { used, capacity, state } = figures
  const share = capacity === 0 ? Number(used > 0) : Math.min(1, used / capacity)
  return (
    <div class={`use capacity-${state}`}>
      <span class="figure">{words.of(formatBytes(used), formatBytes(capacity))}</span>
      <span class="bar bar-thin" aria-hidden="true">
        <span style={{ width: `${share * 100}%` }} />
      </span>
    </div>
  )
}
