import type { ComponentChild, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { parentOf } from '../../shared/folder.ts'
import { isElsewhere } from '../selection/select-files.ts'
import type { Page } from '../user-page.ts'

type HelpView = ComponentType<{ readonly onClose: () => void }>

export interface Shortcuts {
  /** Shows all keys. */
  readonly showHelp: () => void
  readonly help: ComponentChild
}

/**
 * The keys that work wherever the focus is, but in fields and dialogs: `/` goes to the search, `?` shows all keys, and
 * Backspace opens the folder around the open one.
 */
export function useShortcuts(page: Page): Shortcuts {
  const { access, folders, history, list, selection, toasts } = page
  const [Help, setHelp] = useState<HelpView>()
  const showHelp = (): void => void toasts.attempt(loadHelp)

  async function loadHelp(): Promise<void> {
    const { ShortcutHelp } = await import('./shortcut-help.tsx')
    setHelp(() => ShortcutHelp)
  }

  useEffect(() => {
    const acts: Readonly<Record<string, () => void>> = {
      '/'() {
        // The bar of a selection hides the search, which would end the selection.
        selection.clear()
        const focus = () => document.querySelector<HTMLElement>('[type=search]')?.focus()
        requestAnimationFrame(focus)
      },
      '?': showHelp,
      Backspace() {
        const { path, base } = list
        const isListed = access.View.value === undefined && history.view.value === undefined
        if (isListed && path.value !== base.value) folders.open(parentOf(path.value))
      },
    }
    const onKeyDown = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, target } = event
      const act = acts[key]
      if (act === undefined || ctrlKey || metaKey || altKey || isElsewhere(target)) return
      event.preventDefault()
      act()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
  return { showHelp, help: Help !== undefined && <Help onClose={() => setHelp(undefined)} /> }
}
