import { useState } from 'preact/hooks'
import { formatBytes } from '../shared/format.ts'
import { Icon } from '../shared/icon.tsx'
import { KindIcon } from '../shared/kind-icon.tsx'
import { ShownName } from '../shared/shown-name.tsx'
import { messages } from '../messages.ts'
import type { Drop, Drops, DropTree } from './drops.ts'
import { MoreButton } from './more-button.tsx'
import { words } from './words.ts'

/** How far each file is, and each folder, which opens. */
export function DropRows({ drops }: { readonly drops: Drops }) {
  const rows = [...Map.groupBy(drops.items.value, (item) => item.tree ?? item)]
  return (
    <ul class="visit-files">
      {rows.map(([of, items]) =>
        'folder' in of ? (
          <TreeRow key={of.id} tree={of} items={items} drops={drops} />
        ) : (
          <DropRow key={of.id} item={of} label={of.name} drops={drops} />
        ),
      )}
    </ul>
  )
}

export function isDone({ state }: Drop): boolean {
  return state.kind === 'done'
}

interface TreeRowProps {
  readonly tree: DropTree
  readonly items: readonly Drop[]
  readonly drops: Drops
}

/** So many more files are rendered each time that the visitor gets to the end. */
const STEP = 200

function TreeRow({ tree: { folder }, items, drops }: TreeRowProps) {
  const [most, setMost] = useState(0)
  const isOpen = most > 0
  const label = folder.slice(0, -1)
  const [sent, size] = [sumOf(items, 'sent'), sumOf(items, 'size')]
  const done = items.filter(isDone).length
  const refused = items.filter(({ state }) => state.kind === 'refused')
  const isPaused = items.some(({ state }) => state.kind === 'paused')
  return (
    <li class="visit-file">
      <button
        type="button"
        class="visit-folder"
        aria-expanded={isOpen}
        onClick={() => setMost(isOpen ? 0 : STEP)}
      >
        <KindIcon kind="folder" />
        <span class="visit-name">
          <ShownName name={label} />
          <span class="quiet">
            {words.sentFiles(done, items.length)},{' '}
            {words.sentOf(formatBytes(sent), formatBytes(size))}
            {isPaused && `, ${words.states.paused}`}
          </span>
          {refused.length > 0 && <span class="bad">{words.notSent(refused.length)}</span>}
        </span>
        <Icon name={isOpen ? 'up' : 'down'} />
      </button>
      {refused.length > 0 && (
        <button type="button" class="button" onClick={() => drops.retry(refused)}>
          {messages.retry}
        </button>
      )}
      {done + refused.length < items.length && (
        <progress class="visit-progress" value={sent} max={size} aria-label={label} />
      )}
      {isOpen && (
        <ul class="visit-files visit-below">
          {items.slice(0, most).map((item) => (
            <DropRow
              key={item.id}
              item={item}
              label={item.name.slice(folder.length) || item.name}
              drops={drops}
            />
          ))}
          {items.length > most && (
            <li>
              <MoreButton onMore={() => setMost(most + STEP)} />
            </li>
          )}
        </ul>
      )}
    </li>
  )
}

function sumOf(items: readonly Drop[], figure: 'sent' | 'size'): number {
  return items.reduce((sum, item) => sum + item[figure], 0)
}

interface DropRowProps {
  readonly item: Drop
  readonly label: string
  readonly drops: Drops
}

function DropRow({ item, label, drops }: DropRowProps) {
  const { size, sent, state } = item
  return (
    <li class="visit-file">
      <span class="visit-name">
        <ShownName name={label} />
        <span class={state.kind === 'refused' ? 'bad' : 'quiet'}>{wordsOf(item)}</span>
        {state.kind === 'sending' && (
          <progress class="visit-progress" value={sent} max={size} aria-label={label} />
        )}
      </span>
      {state.kind === 'done' && <Icon name="check" />}
      {state.kind === 'refused' && (
        <button type="button" class="button" onClick={() => drops.retry([item])}>
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
