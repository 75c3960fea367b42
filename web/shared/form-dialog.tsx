import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { texts } from '../messages.ts'
import { Dialog } from './dialog.tsx'
import { messageOf } from './error-message.ts'

export interface FormDialogProps {
  readonly title: string
  readonly subject?: string
  /** What the button says. */
  readonly action: string
  /** Whether what it does is hard to undo. */
  readonly isGrave?: boolean
  /** Whether there is something to do yet. */
  readonly isReady?: boolean
  /** What an error of `submit` says to whoever fills in the form; its own words when left out. */
  readonly problemOf?: (error: unknown) => string | undefined
  /** Does it. The dialog closes when it resolves, and says why not when it rejects. */
  readonly submit: () => Promise<void>
  readonly onClose: () => void
  readonly children?: ComponentChildren
}

/** A dialog that asks for something, or for a second thought, before it is done. */
export function FormDialog(props: FormDialogProps) {
  const { title, subject, action, isGrave = false, isReady = true, submit, onClose } = props
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)

  async function run(): Promise<void> {
    setBusy(true)
    try {
      await submit()
      onClose()
    } catch (error) {
      setProblem(props.problemOf?.(error) ?? texts.failed(messageOf(error)))
      setBusy(false)
    }
  }

  return (
    <Dialog title={title} {...(subject === undefined ? {} : { subject })} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady && !isBusy) void run()
        }}
      >
        {props.children}
        {problem !== undefined && (
          <p class="notice notice-bad" role="alert">
            {problem}
          </p>
        )}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {texts.cancel}
          </button>
          <button
            type="submit"
            class={isGrave ? 'button button-bad' : 'button button-main'}
            disabled={!isReady || isBusy}
          >
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
