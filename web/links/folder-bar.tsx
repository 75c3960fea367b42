import { useEffect, useRef } from 'preact/hooks'
import { Breadcrumbs } from '../shared/breadcrumbs.tsx'
import { messages } from '../messages.ts'
import type { Visit } from './visit.ts'

/** The breadcrumbs of the open folder, which gets the focus when it was opened by a button that is gone. */
export function FolderBar({ visit }: { readonly visit: Visit }) {
  const folder = visit.folder.value
  const bar = useRef<HTMLDivElement>(null)
  const opened = useRef(folder)
  useEffect(() => {
    if (opened.current === folder) return
    opened.current = folder
    if (document.activeElement !== document.body) return
    bar.current?.querySelector<HTMLElement>('[aria-current]')?.focus()
  }, [folder])
  return (
    <div ref={bar}>
      <Breadcrumbs
        label={messages.folders.title}
        folder={folder}
        base=""
        onOpen={(each) => visit.openFolder(each)}
      />
    </div>
  )
}
