import { useEffect, useRef } from 'preact/hooks'
import { ShownName } from '../shared/shown-name.tsx'
import { messages } from '../messages.ts'
import { wayTo } from './folder-contents.ts'
import type { Visit } from './visit.ts'

const words = messages.folders

/** The way to the open folder. It has the focus after another folder was opened, whose button is gone. */
export function FolderWay({ visit }: { readonly visit: Visit }) {
  const folder = visit.folder.value
  const current = useRef<HTMLButtonElement>(null)
  const opened = useRef(folder)
  useEffect(() => {
    if (opened.current === folder) return
    opened.current = folder
    if (document.activeElement === document.body) current.current?.focus()
  }, [folder])
  const way = [{ path: '', label: words.all }, ...wayTo(folder)]
  return (
    <nav class="way" aria-label={words.title}>
      <ol>
        {way.map(({ path, label }, at) => {
          const isCurrent = at === way.length - 1
          return (
            <li key={path}>
              {at > 0 && (
                <span class="quiet" aria-hidden="true">
                  /
                </span>
              )}
              <button
                ref={isCurrent ? current : null}
                type="button"
                class="crumb"
                aria-current={isCurrent ? 'page' : undefined}
                onClick={() => visit.openFolder(path)}
              >
                <ShownName name={label} />
              </button>
            </li>
          )
        })}
      </ol>
    </nav>
  )
}
