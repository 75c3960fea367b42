import { useId } from 'preact/hooks'

export interface CopyFieldProps {
  readonly label: string
  readonly value: string
  readonly words: { readonly copy: string; readonly copied: string; readonly notCopied: string }
  /** Whether copying is what the user is here for. */
  readonly isMain?: boolean
  /** Whether the text is shown on several lines. */
  readonly isLong?: boolean
  /** What a screen reader announces; omitted where the caller shows it. */
  readonly said?: string
  /** Called with `copied` or `notCopied` after the button was pressed. */
  readonly onSaid: (said: string) => void
}

/** A text to select, and a button that copies it. */
export function CopyField(props: CopyFieldProps) {
  const { label, value, words, isMain = true, isLong = false, said, onSaid } = props
  const id = useId()

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(value)
      onSaid(words.copied)
    } catch {
      onSaid(words.notCopied)
    }
  }

  const field = { id, class: 'field', dir: 'ltr', readOnly: true, value } as const
  return (
    <div class="form-field">
      <label for={id}>{label}</label>
      <div class={isLong ? 'link link-long' : 'link'}>
        {isLong ? (
          <textarea {...field} rows={4} spellcheck={false} onFocus={selectAll} />
        ) : (
          <input {...field} onFocus={selectAll} />
        )}
        <button
          type="button"
          class={isMain ? 'button button-main' : 'button'}
          onClick={() => void copy()}
        >
          {words.copy}
        </button>
      </div>
      {said !== undefined && (
        <p class="said" role="status">
          {said}
        </p>
      )}
    </div>
  )
}

function selectAll({
  currentTarget,
}: {
  readonly currentTarget: HTMLInputElement | HTMLTextAreaElement
}): void {
  currentTarget.select()
}
