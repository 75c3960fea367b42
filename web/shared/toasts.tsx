import { signal } from '@preact/signals'
import { messages } from '../messages.ts'
import { Icon } from './icon.tsx'
import { visibleText } from './visible-text.ts'

interface Toast {
  readonly id: number
  readonly text: string
  readonly action: { readonly label: string; run(): void } | undefined
}

export interface Toasts {
  /** Shows a message for a while. Returns a function that removes it earlier. */
  show(text: string, action?: { readonly label: string; run(): void }): () => void
  readonly View: () => preact.JSX.Element
}

/** Long enough to choose the action. */
const SHOWN_MS = 6_000

/** Short messages at the lower edge, announced by screen readers. */
export function createToasts(): Toasts {
  const toasts = signal<readonly Toast[]>([])
  let last = 0

  function take(id: number): void {
    toasts.value = toasts.value.filter((toast) => toast.id !== id)
  }

  return {
    show(text, action) {
      const id = (last += 1)
      toasts.value = [...toasts.value, { id, text, action }]
      setTimeout(() => take(id), SHOWN_MS)
      return () => take(id)
    },

    View: () => (
      <div class="toasts" role="status">
        {toasts.value.map(({ id, text, action }) => (
          <div class="toast" key={id}>
            <span class="toast-text">{visibleText(text)}</span>
            {action !== undefined && (
              <button
                type="button"
                class="toast-action"
                onClick={() => {
                  action.run()
                  take(id)
                }}
              >
                {action.label}
              </button>
            )}
            <button
              type="button"
              class="icon-button"
              aria-label={messages.close}
              onClick={() => take(id)}
            >
              <Icon name="close" />
            </button>
          </div>
        ))}
      </div>
    ),
  }
}
