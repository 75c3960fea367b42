import { useId } from 'preact/hooks'

export interface CopyFieldProps {
  readonly label: string
  readonly value: string
  readonly words: { readonly copy: string; readonly copied: string; readonly notCopied: string }
  /** Whether copying is what the user is here for. */
  readonly isMain?: boolean
  /** What a screen reader announces. */
  readonly said: string
  /** Called with `copied` or `notCopied` after the button was pressed. */
  readonly onSaid: (said: string) => void
}

/** A text to select, and a button that copies it. */
export function CopyField({ label, value, words, isMain = true, said, onSaid }: CopyFieldProps) {
  const id = useId()

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(value)
      onSaid(words.copied)
    } catch {
      onSaid(words.notCopied)
    }
  }

  return (
    <>
      <label for={id}>{label}</label>
      <div class="link">
        <input
          id={id}
          class="field"
          dir="ltr"
          readOnly
          value={value}
          onFocus={(event) => event.currentTarget.select()}
        />
        <button
          type="button"
          class={isMain ? 'button button-main' : 'button'}
          onClick={() => void copy()}
        >
          {words.copy}
        </button>
      </div>
      <p class="said" role="status">
        {said}
      </p>
    </>
  )
}
