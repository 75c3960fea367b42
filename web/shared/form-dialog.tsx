import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { messages } from '../messages.ts'
import { Dialog } from './dialog.tsx'
import { ProblemNotice } from './problem-notice.tsx'
import { failureOf } from './error-message.ts'

export interface FormDialogProps {
  readonly title: string
  readonly subject?: string
  /** Label of the submit button. */
  readonly action: string
  /** Whether the action is hard to undo. */
  readonly isGrave?: boolean
  /** Whether the form can be submitted. */
  readonly isReady?: boolean
  /** The message for an error of `submit`; by default the error's own. */
  readonly problemOf?: (error: unknown) => string | undefined
  /** The dialog closes when this resolves, and shows the error when it rejects. */
  readonly submit: () => Promise<void>
  readonly onClose: () => void
  readonly children?: ComponentChildren
}

/** A dialog with a form, or with a confirmation, and a submit button. */
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
      setProblem(props.problemOf?.(error) ?? failureOf(error))
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
        <div class="dialog-actions">
          <ProblemNotice text={problem} />
          <button type="button" class="button" onClick={onClose}>
            {messages.cancel}
          </button>
          <button
            type="submit"
            class={isGrave ? 'button button-bad' : 'button button-main'}
            disabled={!isReady}
            // A disabled button would lose the focus.
            aria-disabled={isBusy}
          >
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
