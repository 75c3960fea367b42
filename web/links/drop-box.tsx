import { useEffect, useMemo, useState } from 'preact/hooks'
import { formatBytes } from '../shared/format.ts'
import { Icon } from '../shared/icon.tsx'
import { messages } from '../messages.ts'
import { createDrops, type Drop, type Drops } from './drops.ts'
import type { Visit } from './visit.ts'
import { ShownName } from '../shared/shown-name.tsx'
import { words } from './words.ts'

export interface DropBoxProps {
  readonly visit: Visit
  /** How many more files it takes, if that is limited. */
  readonly left: number | null
}

/** Takes files, dropped or chosen, and shows how far each is. */
export function DropBox({ visit, left }: DropBoxProps) {
  const drops = useMemo(() => createDrops(visit), [visit])
  const [isOver, setOver] = useState(false)
  const items = drops.items.value
  const isActive = items.some(({ state }) => ACTIVE.has(state.kind))
  const sent = items.filter(isDone).length
  useEffect(() => {
    if (sent > 0 && left !== null) void visit.recount()
  }, [sent])
  useEffect(() => {
    if (!isActive) return undefined
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isActive])
  return (
    <>
      {left !== 0 && (
        <label
          class={isOver ? 'drop-box drop-box-over' : 'drop-box'}
          onDragOver={(event) => {
            event.preventDefault()
            setOver(true)
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(event) => {
            event.preventDefault()
            setOver(false)
            drops.add([...(event.dataTransfer?.files ?? [])])
          }}
        >
          <Icon name="upload" />
          <strong>{words.choose}</strong>
          <span class="quiet">{words.dropHere}</span>
          <input
            type="file"
            class="unseen"
            multiple
            onChange={(event) => {
              drops.add([...(event.currentTarget.files ?? [])])
              event.currentTarget.value = ''
            }}
          />
        </label>
      )}
      {items.length > 0 && (
        <ul class="visit-files">
          {items.map((item) => (
            <DropRow key={item.id} item={item} drops={drops} />
          ))}
        </ul>
      )}
      <p class="said" role="status">
        {items.length > 0 && !isActive ? words.allSent(sent) : ''}
      </p>
    </>
  )
}

const ACTIVE: ReadonlySet<string> = new Set(['waiting', 'sending', 'paused'])

function isDone({ state }: Drop): boolean {
  return state.kind === 'done'
}

function DropRow({ item, drops }: { readonly item: Drop; readonly drops: Drops }) {
  const { name, size, sent, state } = item
  return (
    <li class="visit-file">
      <span class="visit-name">
        <ShownName name={name} />
        <span class={state.kind === 'refused' ? 'bad' : 'quiet'}>{wordsOf(item)}</span>
        {state.kind === 'sending' && (
          <progress class="visit-progress" value={sent} max={size} aria-label={name} />
        )}
      </span>
      {state.kind === 'done' && <Icon name="check" />}
      {state.kind === 'refused' && (
        <button type="button" class="button" onClick={() => drops.retry(item.id)}>
          {messages.retry}
        </button>
      )}
    </li>
  )
}

function wordsOf({ size, sent, state }: Drop): string {
  if (state.kind === 'refused') return state.text
  if (state.kind === 'sending') return words.sentOf(formatBytes(sent), formatBytes(size))
  return `${formatBytes(size)}, ${words.states[state.kind]}`
}
