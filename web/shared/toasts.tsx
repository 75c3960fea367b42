import { type ReadonlySignal, signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { messages } from '../messages.ts'
import { failureOf } from './error-message.ts'
import { IconButton } from './icon-button.tsx'
import { currentEntry, useKeptFocus } from './kept-focus.ts'
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
  /** Shows a message for a while, and while the pointer or the focus is on it. Returns a function that removes it earlier. */
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

/** Short messages at the lower edge, announced by screen readers. Ctrl+Z chooses the action of the last one that has one. */
export function createToasts(): Toasts {
  const toasts = signal<readonly Toast[]>([])
  let last = 0

  function take(id: number): void {
    toasts.value = toasts.value.filter((toast) => toast.id !== id)
  }

  function expire(id: number): void {
    if (isUsed()) setTimeout(() => expire(id), SHOWN_MS)
    else take(id)
  }

  const indexOf = (kind: string): number => toasts.value.findIndex((toast) => toast.kind === kind)

  function add(toast: Omit<Toast, 'id'>, { stays = false } = {}): () => void {
    const id = (last += 1)
    const added = { id, ...toast }
    const at = toast.kind === undefined ? -1 : indexOf(toast.kind)
    toasts.value = at === -1 ? [...toasts.value, added] : toasts.value.with(at, added)
    if (!stays) setTimeout(() => expire(id), SHOWN_MS)
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

    View: () => <ToastList toasts={toasts} take={take} />,
  }
}

/** Whether the user is about to choose something in a message. After a touch, an element stays hovered. */
function isUsed(): boolean {
  const held = matchMedia('(hover: hover)').matches ? ':hover, :focus-within' : ':focus-within'
  return document.querySelector('.toasts')?.matches(held) === true
}

interface ToastListProps {
  readonly toasts: ReadonlySignal<readonly Toast[]>
  readonly take: (id: number) => void
}

function ToastList({ toasts, take }: ToastListProps) {
  const list = useRef<HTMLDivElement>(null)
  const before = useRef<EventTarget | null>(null)
  // To where it was before, or to the list of files.
  useKeptFocus(list, () =>
    before.current instanceof HTMLElement && before.current.isConnected
      ? before.current
      : currentEntry(),
  )
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const toast = toasts.value.findLast(({ action }) => action !== undefined)
      if (toast === undefined || !isUndo(event)) return
      event.preventDefault()
      choose(toast)
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])

  function choose({ id, action }: Toast): void {
    action?.run()
    take(id)
  }

  return (
    <div
      ref={list}
      class="toasts"
      role="status"
      onFocusIn={({ currentTarget, relatedTarget: left }) => {
        if (!currentTarget.contains(left as Node | null)) before.current = left
      }}
    >
      {toasts.value.map((toast) => (
        <div class="toast" key={toast.kind ?? toast.id}>
          <span class="toast-text">{visibleText(toast.text)}</span>
          {toast.action !== undefined && (
            <button
              type="button"
              class="toast-action"
              aria-keyshortcuts="Control+Z"
              onClick={() => choose(toast)}
            >
              {toast.action.label}
            </button>
          )}
          <IconButton icon="close" label={messages.close} onClick={() => take(toast.id)} />
        </div>
      ))}
    </div>
  )
}

/** Not in a field, where the key undoes what was typed. */
function isUndo({ key, ctrlKey, metaKey, shiftKey, target }: KeyboardEvent): boolean {
  if (key.toLowerCase() !== 'z' || !(ctrlKey || metaKey) || shiftKey) return false
  return !(
    target instanceof Element &&
    target.closest('dialog, select, textarea, input:not([type=checkbox])')
  )
}
