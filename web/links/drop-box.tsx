import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { GatheredFile } from '../shared/gathered-file.ts'
import { gatherDropped, takePicked } from '../shared/gathered-files.ts'
import { Icon } from '../shared/icon.tsx'
import { DropRows, isDone } from './drop-rows.tsx'
import { createDrops } from './drops.ts'
import { isFull, takenBy } from './drop-limits.ts'
import type { OpenLink, Visit } from './visit.ts'
import { words } from './words.ts'

export interface DropBoxProps {
  readonly visit: Visit
  readonly link: OpenLink
}

/** Takes files and folders, dropped or chosen, and shows how far each is. */
export function DropBox({ visit, link }: DropBoxProps) {
  const { files, bytes } = takenBy(link)
  const isLimited = files !== null || bytes !== null
  const drops = useMemo(() => createDrops(visit), [visit])
  const items = drops.items.value
  const isActive = items.some(({ state }) => ACTIVE.has(state.kind))
  const sent = items.filter(isDone).length
  useEffect(() => {
    if (isLimited && items.length > 0) void visit.recount()
  }, [sent, isActive])
  useEffect(() => {
    if (!isActive) return undefined
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isActive])
  return (
    <>
      {isFull(link) ? <FullBox /> : <DropField onTaken={drops.add} />}
      {items.length > 0 && <DropRows drops={drops} />}
      <p class="said" role="status">
        {items.length > 0 && !isActive ? words.allSent(sent) : ''}
      </p>
    </>
  )
}

const ACTIVE: ReadonlySet<string> = new Set(['waiting', 'sending', 'paused'])

/** Takes nothing that is dropped: the browser would leave the page and open it. */
function FullBox() {
  useEffect(
    () =>
      onDrag(
        () => undefined,
        () => undefined,
      ),
    [],
  )
  return (
    <p class="notice">
      <Icon name="lock" />
      <span>{words.fullHint}</span>
    </p>
  )
}

function DropField({ onTaken }: { readonly onTaken: (files: readonly GatheredFile[]) => void }) {
  const [isOver, setOver] = useState(false)
  const folder = useRef<HTMLInputElement | null>(null)
  const common = { type: 'file', multiple: true } as const
  useEffect(() => onDrag(setOver, onTaken), [onTaken])
  return (
    <>
      <label class={isOver ? 'drop-box drop-box-over' : 'drop-box'}>
        <Icon name="upload" />
        <strong>{words.choose}</strong>
        <span class="quiet">{words.dropHere}</span>
        <input
          {...common}
          class="unseen"
          onChange={(event) => void takePicked(event.currentTarget).then(onTaken)}
        />
      </label>
      <button type="button" class="button" onClick={() => folder.current?.click()}>
        <Icon name="uploadFolder" />
        {words.chooseFolder}
      </button>
      <input
        {...common}
        ref={(input) => {
          folder.current = input
          if (input !== null) input.webkitdirectory = true
        }}
        hidden
        data-picker="folder"
        onChange={(event) => void takePicked(event.currentTarget).then(onTaken)}
      />
    </>
  )
}

/** Takes what is dropped anywhere: beside the field, the browser would leave the page and open it. Returns what ends that. */
function onDrag(
  setOver: (isOver: boolean) => void,
  onTaken: (files: readonly GatheredFile[]) => void,
): () => void {
  const ending = new AbortController()
  for (const type of ['dragover', 'dragleave', 'drop'] as const) {
    const listen = (event: DragEvent): void => {
      const { dataTransfer } = event
      if (dataTransfer?.types.includes('Files') !== true) return
      event.preventDefault()
      setOver(type === 'dragover')
      if (type === 'drop') void gatherDropped(dataTransfer).then(onTaken)
    }
    document.addEventListener(type, listen, { signal: ending.signal })
  }
  return () => ending.abort()
}
