import { useEffect, useMemo, useState } from 'preact/hooks'
import { formatBytes } from '../shared/format.ts'
import { Icon } from '../shared/icon.tsx'
import type { Capacity } from '../shared/model.ts'
import { messages } from '../messages.ts'
import type { Page } from './user-page.ts'

const words = messages.capacity

/** The used capacity, and the devices and other grants that it consists of. */
export function CapacityPanel({ page }: { readonly page: Page }) {
  const [isOpen, setOpen] = useRoom()
  const capacity = page.capacity.figures.value
  const { value: Parts } = page.CapacityParts
  if (capacity === undefined) return null
  const { used, grants, unfinished_uploads: unfinished, history, devices } = capacity
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
      {Parts !== undefined && grants.length + devices.length > 0 && (
        <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>{devices.length > 0 ? words.devices : words.parts}</summary>
          <Parts page={page} capacity={capacity} />
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
