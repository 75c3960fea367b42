import { useEffect, useState } from 'preact/hooks'
import { Dialog } from '../../shared/dialog.tsx'
import { Icon } from '../../shared/icon.tsx'
import type { FileEntry } from '../../shared/model.ts'
import { messages } from '../../messages.ts'
import type { Page } from '../user-page.ts'
import { archivePath } from '../../shared/connection.ts'
import { archiveParts, bytesOf, MAX_NAMES, sharedPrefix } from './archive.ts'

const words = messages.selection.archive

export interface SelectionDialogProps {
  readonly page: Page
  readonly files: readonly FileEntry[]
  readonly onClose: () => void
}

/** What the names of the files, and of no others, begin with, once that is known. */
export function useSharedPrefix({ page, files }: SelectionDialogProps): string | undefined {
  const [prefix, setPrefix] = useState<string>()
  useEffect(() => {
    let isOpen = true
    async function find(): Promise<void> {
      const found = await sharedPrefix(page.reader.files, files).catch(() => undefined)
      if (isOpen) setPrefix(found)
    }
    void find()
    return () => {
      isOpen = false
    }
  }, [files])
  return prefix
}

/** Offers the archives that more files need than fit into one by their names. */
export function ArchiveDialog(props: SelectionDialogProps) {
  const { page, files, onClose } = props
  const prefix = useSharedPrefix(props)
  const all = { files, path: archivePath(prefix ?? '') }
  const isWhole = prefix !== undefined
  const parts = isWhole ? [all] : archiveParts(files)
  return (
    <Dialog title={words.title} onClose={onClose}>
      {!isWhole && <p>{words.hint(MAX_NAMES)}</p>}
      <div class="choices archives" aria-live="polite">
        {parts.map((part, index) => {
          const bytes = bytesOf(part.files)
          const count = part.files.length
          return (
            <a key={part.path} class="button" href={page.connection.urlOf(part.path)} download>
              <Icon name="archive" />
              {isWhole ? words.together(count, bytes) : words.part(index + 1, count, bytes)}
            </a>
          )
        })}
      </div>
    </Dialog>
  )
}
