import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { messages } from '../messages.ts'
import { IconButton } from './icon-button.tsx'
import { ShownName } from './shown-name.tsx'
import { visibleText } from './visible-text.ts'

/** In the viewport, in pixels. */
export interface Point {
  readonly x: number
  readonly y: number
}

export interface DialogProps {
  readonly title: string
  /** Subtitle, such as the name of the file. */
  readonly subject?: string
  /** Where its first corner is, as near as it fits; in the middle without it. */
  readonly at?: Point | undefined
  /** Whether it has two columns where there is room. */
  readonly isWide?: boolean
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A modal dialog: the browser traps the focus, which goes back to where it was afterwards. */
export function Dialog(props: DialogProps) {
  const { title, subject, at, isWide = false, onClose, children } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  // With the rendering: a key meant for the dialog must not go to what is below it.
  useLayoutEffect(() => {
    const opener = document.activeElement
    const { current } = dialog
    current?.showModal()
    if (current !== null && at !== undefined) moveTo(current, at)
    return () => {
      // As long as it is there, nothing else can have the focus.
      current?.remove()
      if (document.activeElement !== document.body) return
      if (opener instanceof HTMLElement) opener.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={`dialog ${at === undefined ? '' : 'dialog-menu'} ${isWide ? 'dialog-wide' : ''}`}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => {
        // A click on the backdrop has the dialog itself as its target.
        if (event.target === dialog.current) onClose()
      }}
      onContextMenu={(event) => {
        if (at === undefined || event.target !== dialog.current) return
        event.preventDefault()
        onClose()
      }}
    >
      <div class="dialog-content">
        <header class="dialog-head">
          <h2 id={id}>{visibleText(title)}</h2>
          <IconButton icon="close" label={messages.close} onClick={onClose} />
        </header>
        {subject !== undefined && (
          <p class="dialog-subject">
            <ShownName name={subject} />
          </p>
        )}
        {children}
      </div>
    </dialog>
  )
}

/** Pixels around a dialog. */
const GAP = 8

function moveTo(dialog: HTMLElement, { x, y }: Point): void {
  const { width, height } = dialog.getBoundingClientRect()
  dialog.style.left = `${Math.max(GAP, Math.min(x, innerWidth - width - GAP))}px`
  dialog.style.top = `${Math.max(GAP, Math.min(y, innerHeight - height - GAP))}px`
}
