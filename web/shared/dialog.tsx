import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { texts } from '../messages.ts'
import { Icon } from './icon.tsx'

export interface DialogProps {
  readonly title: string
  /** Named below the title, such as the file that it is about. */
  readonly subject?: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A modal dialog: the browser keeps the focus in it, and gives it back to where it was. */
export function Dialog({ title, subject, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const opener = document.activeElement
    dialog.current?.showModal()
    return () => {
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
        // On the backdrop, which is the dialog itself and none of what is in it.
        if (event.target === dialog.current) onClose()
      }}
    >
      <div class="dialog-content">
        <header class="dialog-head">
          <h2 id={id}>{title}</h2>
          <button type="button" class="icon-button" aria-label={texts.close} onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {subject !== undefined && <p class="dialog-subject">{subject}</p>}
        {children}
      </div>
    </dialog>
  )
}
