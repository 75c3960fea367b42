import { useRef } from 'preact/hooks'
import { Dialog, type Point } from './dialog.tsx'
import { Icon, type IconName } from './icon.tsx'

export interface MenuAction {
  readonly icon: IconName
  readonly label: string
  readonly run?: () => unknown
  /** What the browser downloads instead, and the name under which it saves it. */
  readonly download?: { readonly url: string; readonly name: string }
}

export interface ActionMenuProps {
  readonly title: string
  readonly actions: readonly MenuAction[]
  /** Where it was asked for with a pointer; the middle of the page otherwise. */
  readonly at?: Point | undefined
  readonly onClose: () => void
}

/** What can be done with something, of which the arrow keys choose one. */
export function ActionMenu({ title, actions, at, onClose }: ActionMenuProps) {
  const list = useRef<HTMLDivElement>(null)

  function move(event: KeyboardEvent): void {
    const all = [...(list.current?.querySelectorAll<HTMLElement>('.button') ?? [])]
    const index = all.findIndex((action) => action === document.activeElement)
    const next = {
      ArrowDown: (index + 1) % all.length,
      ArrowUp: (Math.max(0, index) + all.length - 1) % all.length,
      Home: 0,
      End: all.length - 1,
    }[event.key]
    if (next === undefined) return
    event.preventDefault()
    all[next]?.focus()
  }

  return (
    <Dialog title={title} at={at} onClose={onClose}>
      <div ref={list} class="choices" onKeyDown={move}>
        {actions.map(({ icon, label, run, download }, index) => {
          const content = (
            <>
              <Icon name={icon} />
              {label}
            </>
          )
          const autofocus = index === 0
          return download === undefined ? (
            <button
              key={icon}
              type="button"
              class="button"
              autofocus={autofocus}
              onClick={() => {
                onClose()
                void run?.()
              }}
            >
              {content}
            </button>
          ) : (
            <a
              key={icon}
              class="button"
              href={download.url}
              download={download.name}
              autofocus={autofocus}
              onClick={onClose}
            >
              {content}
            </a>
          )
        })}
      </div>
    </Dialog>
  )
}
