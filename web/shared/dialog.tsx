import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { messages } from '../messages.ts'
import { IconButton } from './icon-button.tsx'
import { ShownName } from './shown-name.tsx'
import { visibleText } from './visible-text.ts'

export interface DialogProps {
  readonly title: string
  /** Subtitle, such as the name of the file. */
  readonly subject?: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A modal dialog: the browser traps the focus, which goes back to where it was afterwards. */
export function Dialog({ title, subject, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const opener = document.activeElement
    const { current } = dialog
    current?.showModal()
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
      class="dialog"
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => {
        // A click on the backdrop has the dialog itself as its target.
        if (event.target === dialog.current) onClose()
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
