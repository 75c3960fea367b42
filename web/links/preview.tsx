import { useEffect, useState } from 'preact/hooks'
import { Dialog } from '../shared/dialog.tsx'
import { failureOf } from '../shared/error-message.ts'
import { folderOf, nameIn } from '../shared/folder.ts'
import { formatCount } from '../shared/format.ts'
import { ProblemNotice } from '../shared/problem-notice.tsx'
import { IconButton } from '../shared/icon-button.tsx'
import type { FolderContents, LinkedFile } from './folder-contents.ts'
import { shownAs } from './shown-as.ts'
import type { Visit } from './visit.ts'
import { words } from './words.ts'

interface PreviewProps {
  readonly visit: Visit
  readonly file: LinkedFile
  /** Those of its folder. */
  readonly photos: FolderContents['files']
  readonly onShow: (file: LinkedFile) => void
  readonly onClose: () => void
}

/** A photo, with those before and after it, or a text. */
export function Preview({ visit, file, photos, onShow, onClose }: PreviewProps) {
  const at = photos.findIndex((photo) => photo.file === file)
  const label = photos[at]?.label ?? nameIn(folderOf(file.name), file.name)
  const [image, setImage] = useState<string>()
  const [text, setText] = useState<string>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    let url: string | undefined
    setImage(undefined)
    setText(undefined)
    setProblem(undefined)
    const gone = new AbortController()
    async function load(): Promise<void> {
      const address = visit.connection.urlOf(visit.pathOf(file.name))
      const response = await fetch(address, { signal: gone.signal })
      if (!response.ok) throw new Error(`Status ${response.status}.`)
      if (shownAs(file) === 'text') setText(await response.text())
      else setImage((url = URL.createObjectURL(await response.blob())))
    }
    load().catch((error: unknown) => {
      if (!gone.signal.aborted) setProblem(failureOf(error))
    })
    return () => {
      gone.abort()
      if (url !== undefined) URL.revokeObjectURL(url)
    }
  }, [file])
  return (
    <Dialog title={label} isWide={at !== -1} onClose={onClose}>
      <ProblemNotice text={problem} />
      {image !== undefined && (
        <img
          class="preview-image"
          src={image}
          alt={label}
          onError={() => setProblem(words.notShown)}
        />
      )}
      {at !== -1 && photos.length > 1 && <Turn at={at} photos={photos} onShow={onShow} />}
      {text !== undefined && (
        <pre class="preview-text" tabIndex={0}>
          {text}
        </pre>
      )}
    </Dialog>
  )
}

interface TurnProps extends Pick<PreviewProps, 'photos' | 'onShow'> {
  readonly at: number
}

/** Leads to the photos before and after, also by the arrow keys. */
function Turn({ at, photos, onShow }: TurnProps) {
  function show(step: number): void {
    const { file } = photos[(at + step + photos.length) % photos.length] ?? {}
    if (file !== undefined) onShow(file)
  }

  useEffect(() => {
    const onKeyDown = ({ key }: KeyboardEvent): void => {
      if (key === 'ArrowLeft') show(-1)
      if (key === 'ArrowRight') show(1)
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [at, photos])
  return (
    <div class="preview-turn">
      <IconButton icon="left" label={words.previous} onClick={() => show(-1)} />
      <span class="quiet">
        {formatCount(at + 1)} / {formatCount(photos.length)}
      </span>
      <IconButton icon="right" label={words.next} onClick={() => show(1)} />
    </div>
  )
}
