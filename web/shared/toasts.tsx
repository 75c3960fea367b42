import { signal } from '@preact/signals'
import { messages } from '../messages.ts'
import { failureOf } from './error-message.ts'
import { IconButton } from './icon-button.tsx'
import { visibleText } from './visible-text.ts'

interface Toast {
  readonly id: number
  readonly kind?: string
  readonly text: string
  readonly action?: { readonly label: string; run(): void } | undefined
}

export interface ToastOfKind {
  readonly kind: string
  readonly text: string
  readonly action?: { readonly label: string; run(): void } | undefined
  /** Whether it is shown until it is removed or replaced. */
  readonly stays?: boolean
}

export interface Toasts {
  /** Shows a message for a while. Returns a function that removes it earlier. */
  show(text: string, action?: { readonly label: string; run(): void }): () => void
  /** As `show`, in place of the message of the same kind. */
  replace(toast: ToastOfKind): () => void
  /** Whether a message of this kind is shown. */
  has(kind: string): boolean
  /** Does the work, and says why it failed if it rejects. Never rejects. */
  attempt(work: () => Promise<unknown>): Promise<void>
  clear(): void
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

  const indexOf = (kind: string): number => toasts.value.findIndex((toast) => toast.kind === kind)

  function add(toast: Omit<Toast, 'id'>, { stays = false } = {}): () => void {
    const id = (last += 1)
    const added = { id, ...toast }
    const at = toast.kind === undefined ? -1 : indexOf(toast.kind)
    toasts.value = at === -1 ? [...toasts.value, added] : toasts.value.with(at, added)
    if (!stays) setTimeout(() => take(id), SHOWN_MS)
    return () => take(id)
  }

  return {
    show: (text, action) => add({ text, action }),
    replace: ({ stays = false, ...toast }) => add(toast, { stays }),
    has: (kind) => indexOf(kind) !== -1,

    async attempt(work) {
      try {
        await work()
      } catch (error) {
        add({ text: failureOf(error) })
      }
    },

    clear() {
      toasts.value = []
    },

    View: () => (
      <div class="toasts" role="status">
        {toasts.value.map(({ id, kind, text, action }) => (
          <div class="toast" key={kind ?? id}>
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
            <IconButton icon="close" label={messages.close} onClick={() => take(id)} />
          </div>
        ))}
      </div>
    ),
  }
}
