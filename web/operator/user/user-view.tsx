import { useEffect, useMemo, useRef } from 'preact/hooks'
import { formatBytes, formatCount, formatTime } from '../../shared/format.ts'
import { Icon } from '../../shared/icon.tsx'
import { ProblemNotice } from '../../shared/problem-notice.tsx'
import { messages } from '../../messages.ts'
import { operatorWords } from '../words.ts'
import { words as auditWords } from '../audit/words.ts'
import { DeviceSection } from './device-section.tsx'
import { GrantSection } from './grant-section.tsx'
import { HistorySection } from './history-section.tsx'
import { LinkSection } from './link-section.tsx'
import type { User } from '../../../packages/js/src/admin.ts'
import type { Page } from '../page.ts'
import { ALL_USERS, auditOf } from '../route.ts'
import { StatusBadge } from '../status-badge.tsx'
import { TokenSection } from './token-section.tsx'
import { UploadSection } from './upload-section.tsx'
import { UserActions } from './user-actions.tsx'
import type { SectionProps } from './section-props.ts'
import { createUserRecord } from './user-record.ts'

const words = operatorWords.user

/** One user, with all that belongs to them except their files. */
export function UserView({ page, userId }: { readonly page: Page; readonly userId: string }) {
  const watched = useMemo(() => createUserRecord(page.reader, userId), [userId])
  const record = watched.value.value
  const problem = watched.problem.value
  // At the interval of the charts, to show the user's activity.
  const moment = page.watch.samples.value.at(-1)?.at
  useEffect(() => void watched.refresh(), [watched, moment])
  return (
    <main class="list card">
      <div class="toolbar">
        <a class="button button-plain" href={ALL_USERS}>
          <Icon name="users" />
          {words.back}
        </a>
        <a class="button button-plain" href={auditOf(userId)}>
          <Icon name="list" />
          {auditWords.title}
        </a>
      </div>
      <div class="list-rows record">
        <Heading userId={userId} account={record?.account} />
        <ProblemNotice text={problem} />
        {record === null && <p class="notice">{operatorWords.users.none(userId)}</p>}
        {record !== null && record !== undefined && (
          <Record
            page={page}
            record={record}
            user={page.client.user(userId)}
            onChange={() => void watched.read()}
          />
        )}
      </div>
    </main>
  )
}

/** Receives the focus after navigation by a link. */
function Heading({ userId, account }: { userId: string; account: User | undefined }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [userId])
  return (
    <header class="record-head">
      <h2 ref={heading} tabIndex={-1}>
        {userId}
      </h2>
      {account !== undefined && <StatusBadge status={account.status} />}
    </header>
  )
}

function Record(props: SectionProps) {
  const { account } = props.record
  return (
    <>
      <UserFigures account={account} />
      {account.status === 'deleted' ? (
        <p class="notice">{words.deleted}</p>
      ) : (
        <>
          <UserActions {...props} />
          <DeviceSection {...props} />
          <GrantSection {...props} />
          <UploadSection {...props} />
          <HistorySection {...props} />
          <TokenSection {...props} />
          <LinkSection {...props} />
        </>
      )}
    </>
  )
}

function UserFigures({ account }: { readonly account: User }) {
  const { capacity, used, reserved, available, file_count: count, state } = account.capacity
  const whole = Math.max(1, capacity, used + reserved)
  const figures = [
    [words.used, formatBytes(used)],
    [words.reserved, formatBytes(reserved)],
    [words.available, formatBytes(available)],
    [words.capacity, formatBytes(capacity)],
    [words.files, formatCount(count)],
    [words.since, formatTime(account.created_at)],
  ] as const
  return (
    <>
      <div
        class={`meter capacity-${state}`}
        role="img"
        aria-label={messages.capacity.meter(used, reserved, available)}
      >
        <span class="meter-used" style={{ width: `${(used / whole) * 100}%` }} />
        <span class="meter-reserved" style={{ width: `${(reserved / whole) * 100}%` }} />
      </div>
      <dl class="figures">
        {figures.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}
