import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Icon } from '../../shared/icon.tsx'
import { messages } from '../../messages.ts'
import type { GatheredFile } from '../../shared/gathered-file.ts'
import { takePicked } from '../../shared/gathered-files.ts'

const words = messages.files

export interface FilePickersProps {
  /** Receives the input that chooses files. */
  readonly picker: RefObject<HTMLInputElement>
  readonly onPicked: (files: Promise<readonly GatheredFile[]>) => void
}

/** The buttons that upload files, or the files of a folder. */
export function FilePickers({ picker: files, onPicked }: FilePickersProps) {
  const folder = useRef<HTMLInputElement>(null)

  const common = { type: 'file', multiple: true, hidden: true, tabIndex: -1 } as const
  return (
    <div class="pickers">
      <button
        type="button"
        class="button button-main"
        aria-label={words.upload}
        onClick={() => files.current?.click()}
      >
        <Icon name="upload" />
        <span>{words.upload}</span>
      </button>
      <button
        type="button"
        class="button"
        aria-label={words.uploadFolder}
        title={words.uploadFolder}
        onClick={() => folder.current?.click()}
      >
        <Icon name="uploadFolder" />
      </button>
      <input
        {...common}
        ref={files}
        data-picker="files"
        onChange={(event) => onPicked(takePicked(event.currentTarget))}
      />
      <input
        {...common}
        ref={(input) => {
          folder.current = input
          if (input !== null) input.webkitdirectory = true
        }}
        data-picker="folder"
        onChange={(event) => onPicked(takePicked(event.currentTarget))}
      />
    </div>
  )
}

/** Uploads files that are pasted outside of form fields. A pasted screenshot has no name of its own. */
export function usePaste(onPasted: (files: readonly GatheredFile[]) => void): void {
  const latest = useRef(onPasted)
  latest.current = onPasted
  useEffect(() => {
    const onPaste = (event: ClipboardEvent): void => {
      const files = [...(event.clipboardData?.files ?? [])]
      if (files.length === 0 || event.target instanceof HTMLInputElement) return
      event.preventDefault()
      latest.current(files.map((content) => ({ content, path: pastedName(content) })))
    }
    document.addEventListener('paste', onPaste)
    return () => document.removeEventListener('paste', onPaste)
  }, [])
}

function pastedName({ name }: File): string {
  const [, extension] = /^image(\.\w+)$/.exec(name) ?? []
  return extension === undefined ? name : messages.uploads.pasted(new Date(), extension)
}
