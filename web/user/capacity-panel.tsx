import { useEffect, useMemo, useState } from 'preact/hooks'
import { formatBytes } from '../shared/format.ts'
import { Icon, type IconName } from '../shared/icon.tsx'
import type { Capacity } from '../shared/model.ts'
import { messages } from '../messages.ts'

const words = messages.capacity

/** The used capacity, and the devices and other grants that it consists of. */
export function CapacityPanel({ capacity }: { readonly capacity: Capacity | undefined }) {
  const [isOpen, setOpen] = useRoom()
  if (capacity === undefined) return null
  const { used, grants, unfinished_uploads: unfinished, history } = capacity
  return (
    <aside class={`capacity capacity-${capacity.state} card`} aria-label={words.title}>
      <h2>{words.title}</h2>
      <Meter capacity={capacity} />
      <p class="capacity-line">
        <strong>{words.of(used, capacity.capacity)}</strong>
      </p>
      <Legend capacity={capacity} />
      {unfinished.count > 0 && (
        <p class="quiet">{words.unfinished(unfinished.count, unfinished.bytes)}</p>
      )}
      {history.count > 0 && <p class="quiet">{words.history(history.used, history.allowance)}</p>}
      <State capacity={capacity} />
      <p class="quiet">{words.count(capacity.file_count, capacity.max_files)}</p>
      {grants.length > 0 && (
        <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>{words.parts}</summary>
          <ul class="grants">
            {grants.map((grant) => (
              <GrantRow
                key={`${grant.source} ${grant.reference}`}
                grant={grant}
                capacity={capacity}
              />
            ))}
          </ul>
        </details>
      )}
    </aside>
  )
}

/** Whether the window has room, or what the user has chosen since that changed. */
function useRoom() {
  const room = useMemo(() => matchMedia('(min-width: 60rem)'), [])
  const [isOpen, setOpen] = useState(room.matches)
  useEffect(() => {
    const follow = (): void => setOpen(room.matches)
    room.addEventListener('change', follow)
    return () => room.removeEventListener('change', follow)
  }, [])
  return [isOpen, setOpen] as const
}

function Meter({ capacity }: { readonly capacity: Capacity }) {
  const { used, reserved, available } = capacity
  const whole = Math.max(1, capacity.capacity, used + reserved)
  return (
    <div class="meter" role="img" aria-label={words.meter(used, reserved, available)}>
      <span class="meter-used" style={{ width: `${(used / whole) * 100}%` }} />
      <span class="meter-reserved" style={{ width: `${(reserved / whole) * 100}%` }} />
    </div>
  )
}

function Legend({ capacity }: { readonly capacity: Capacity }) {
  const rows = [
    ['used', words.used, capacity.used],
    ['reserved', words.reserved, capacity.reserved],
    ['free', words.free, capacity.available],
  ] as const
  return (
    <dl class="legend">
      {rows.map(([kind, label, bytes]) => (
        <div key={kind}>
          <dt class={`legend-${kind}`}>{label}</dt>
          <dd>{formatBytes(bytes)}</dd>
        </div>
      ))}
    </dl>
  )
}

function State({ capacity }: { readonly capacity: Capacity }) {
  const { state, used } = capacity
  if (state === 'normal') return null
  const text =
    state === 'exceeded' ? words.states.exceeded(used - capacity.capacity) : words.states[state]
  return (
    <p class={state === 'nearing' ? 'notice notice-warm' : 'notice notice-bad'}>
      <Icon name="warning" />
      <span>{text}</span>
    </p>
  )
}

function GrantRow({
  grant,
  capacity,
}: {
  readonly grant: Capacity['grants'][number]
  readonly capacity: Capacity
}) {
  const { source, reference, bytes, model, ends_at: end } = grant
  const isBase = source === 'base'
  const name = isBase ? words.base : reference
  const kind = source === 'device' ? (model ?? words.device) : isBase ? '' : source
  return (
    <li class="grant">
      <Icon name={iconOf(source)} />
      <div class="grant-words">
        <strong>{name}</strong>
        <span class="quiet">
          {[kind, end === null ? '' : words.until(end)].filter(Boolean).join(', ')}
        </span>
        <span class="quiet">{isBase ? words.stays : withoutIt(bytes, capacity)}</span>
      </div>
      <span class="grant-bytes">{formatBytes(bytes)}</span>
    </li>
  )
}

/** The effect of losing a grant. */
function withoutIt(bytes: number, { capacity, used }: Capacity): string {
  const left = capacity - bytes - used
  return left >= 0 ? words.leaves(left) : words.leavesOver(-left)
}

function iconOf(source: string): IconName {
  if (source === 'base') return 'account'
  return source === 'device' ? 'device' : 'gift'
}
