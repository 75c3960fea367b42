import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../../shared/icon.tsx'
import { currentEntry, useKeptFocus } from '../../shared/kept-focus.ts'
import { messages } from '../../messages.ts'
import { isTaken, needsRetry, type UploadFigures } from './upload-figures.ts'
import type { UploadItem } from './upload-item.ts'
import { UploadRows } from './upload-rows.tsx'
import type { UploadRowsProps } from './upload-trees.ts'
import type { Uploads } from './queue.ts'

const words = messages.uploads

/** All uploads of this visit, with their progress and the decisions that they need. */
export function UploadPanel({ uploads, isConnected }: UploadRowsProps) {
  const [isOpen, setOpen] = useState(hasRoom)
  const panel = useRef<HTMLElement>(null)
  const figures = uploads.figures.value
  const items = uploads.items.value
  const isOver = items.length > 0 && figures.done === items.length
  useEffect(() => {
    // Finished uploads need no room, unless the user is in the list.
    if (panel.current?.contains(document.activeElement) !== true) setOpen(!isOver && hasRoom())
  }, [isOver])
  // A decision goes with its buttons.
  useKeptFocus(panel, () => panel.current?.querySelector('.upload-rows') ?? currentEntry())
  const spoken = useSpoken(figures, items)
  return (
    <>
      <p class="unseen" role="status">
        {spoken}
      </p>
      {items.length > 0 && (
        <section ref={panel} class="uploads card" aria-label={words.title}>
          <PanelHead
            uploads={uploads}
            isConnected={isConnected}
            isOpen={isOpen}
            onToggle={() => setOpen(!isOpen)}
          />
          {figures.active > 0 && <Progress figures={figures} />}
          {isOpen && <Decisions uploads={uploads} shown={figures} />}
          {isOpen && <UploadRows uploads={uploads} isConnected={isConnected} />}
        </section>
      )}
    </>
  )
}

/** On a low screen, the list would cover the page. */
function hasRoom(): boolean {
  return matchMedia('(min-height: 34rem)').matches
}

interface PanelHeadProps extends UploadRowsProps {
  readonly isOpen: boolean
  readonly onToggle: () => void
}

function PanelHead({ uploads, isConnected, isOpen, onToggle }: PanelHeadProps) {
  const items = uploads.items.value
  const figures = uploads.figures.value
  const { active, bytes, sent, bytesPerSecond } = figures
  return (
    <header class="uploads-head">
      <div class="uploads-words">
        <h2>{headline(figures, items)}</h2>
        {active > 0 && !isConnected && <span class="bad">{words.states.lost}</span>}
        {active > 0 && isConnected && bytesPerSecond > 0 && (
          <span class="quiet">{words.rate(bytesPerSecond, (bytes - sent) / bytesPerSecond)}</span>
        )}
      </div>
      {active > 0 ? (
        <button
          type="button"
          class="button button-plain"
          onClick={() => void uploads.remove(items)}
        >
          {words.cancelAll}
        </button>
      ) : (
        <button
          type="button"
          class="button button-plain"
          onClick={() => void uploads.remove(items)}
        >
          {words.clear}
        </button>
      )}
      <button
        type="button"
        class="icon-button"
        aria-expanded={isOpen}
        aria-label={isOpen ? words.collapse : words.expand}
        onClick={onToggle}
      >
        <Icon name={isOpen ? 'down' : 'up'} />
      </button>
    </header>
  )
}

function headline({ all, done, active }: UploadFigures, items: readonly UploadItem[]): string {
  if (active > 0) return words.running(done, all)
  const failed = items.filter(needsRetry).length
  const undecided = items.length - done - failed
  if (undecided > 0) return words.needsYou(undecided)
  return failed > 0 ? words.notUploaded(failed) : words.finished(done)
}

function Progress({ figures }: { readonly figures: UploadFigures }) {
  const percent = percentOf(figures)
  return (
    <div
      class="bar"
      role="progressbar"
      aria-label={words.progress}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
    >
      <span style={{ width: `${percent}%` }} />
    </div>
  )
}

function percentOf({ bytes, sent }: UploadFigures): number {
  return bytes === 0 ? 0 : Math.floor((sent / bytes) * 100)
}

/** Decisions for several uploads at once. */
function Decisions({
  uploads,
  shown,
}: {
  readonly uploads: Uploads
  readonly shown: UploadFigures
}) {
  const items = shown.all === 0 ? [] : uploads.items.value
  const existing = items.filter(isTaken)
  const full = items.filter(({ state }) => state.kind === 'full')
  const failed = items.filter(needsRetry)
  return (
    <>
      {existing.length > 1 && (
        <div class="decision">
          {uploads.permissions.may('replace') && (
            <button type="button" class="button" onClick={() => uploads.replace(existing)}>
              {words.replaceAll(existing.length)}
            </button>
          )}
          <button type="button" class="button" onClick={() => void uploads.remove(existing)}>
            {words.skipAll}
          </button>
        </div>
      )}
      {full.length > 1 && <FullNotice full={full} />}
      {isSpread(failed) && (
        <div class="decision">
          <button type="button" class="button" onClick={() => uploads.retry(failed)}>
            {words.retryAll}
          </button>
        </div>
      )}
    </>
  )
}

/** Whether no single row offers the decision for all of them. */
function isSpread([first, ...others]: readonly UploadItem[]): boolean {
  return others.some(({ tree }) => tree === undefined || tree !== first?.tree)
}

/** The space missing for all of them together; each row shows its own. */
function FullNotice({ full }: { readonly full: readonly UploadItem[] }) {
  const available = Math.min(
    ...full.map(({ state }) => (state.kind === 'full' ? state.available : 0)),
  )
  const wanted = full.reduce((sum, { size, replaced }) => sum + size - (replaced?.size ?? 0), 0)
  if (wanted <= available) return null
  const fitsAlone = full.every(({ state }) => state.kind === 'full' && state.missing === 0)
  const say = fitsAlone ? words.fullTogether : words.fullMany
  return (
    <p class="notice notice-bad">
      <Icon name="warning" />
      <span>{say(full.length, wanted - available)}</span>
    </p>
  )
}

const SPOKEN_PERCENT = 25

/** Announces only the start, each quarter and the end to screen readers. */
function useSpoken(figures: UploadFigures, items: readonly UploadItem[]): string {
  const [spoken, setSpoken] = useState('')
  const last = useRef('')
  useEffect(() => {
    const step = Math.floor(percentOf(figures) / SPOKEN_PERCENT) * SPOKEN_PERCENT
    const first = step === 0 ? headline(figures, items) : words.announce(step)
    const text = figures.active > 0 ? first : items.length > 0 ? headline(figures, items) : ''
    const key = figures.active > 0 ? `${step}` : text
    if (last.current === key) return
    last.current = key
    setSpoken(text)
  }, [figures])
  return spoken
}
