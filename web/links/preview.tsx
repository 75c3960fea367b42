import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { Dialog } from '../shared/dialog.tsx'
import { failureOf } from '../shared/error-message.ts'
import { folderOf, nameIn } from '../shared/folder.ts'
import { formatCount } from '../shared/format.ts'
import { ProblemNotice } from '../shared/problem-notice.tsx'
import { DownloadButton, IconButton } from '../shared/icon-button.tsx'
import { messages } from '../messages.ts'
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
  const url = visit.connection.urlOf(visit.pathOf(file.name))
  return (
    <Dialog title={label} isWide={at !== -1} onClose={onClose}>
      <Content key={file.name} file={file} url={url} label={label} />
      <div class="preview-foot">
        {at !== -1 && photos.length > 1 && <Turn at={at} photos={photos} onShow={onShow} />}
        <DownloadButton url={url} name={label} label={messages.files.download(label)} />
      </div>
    </Dialog>
  )
}

interface ContentProps {
  readonly file: LinkedFile
  readonly url: string
  readonly label: string
}

function Content({ file, url, label }: ContentProps) {
  const [image, setImage] = useState<string>()
  const [text, setText] = useState<string>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    let loaded: string | undefined
    const gone = new AbortController()
    async function load(): Promise<void> {
      const response = await fetch(url, { signal: gone.signal })
      if (!response.ok) throw new Error(`Status ${response.status}.`)
      if (shownAs(file) === 'text') setText(await response.text())
      else setImage((loaded = URL.createObjectURL(await response.blob())))
    }
    load().catch((error: unknown) => {
      if (!gone.signal.aborted) setProblem(failureOf(error))
    })
    return () => {
      gone.abort()
      if (loaded !== undefined) URL.revokeObjectURL(loaded)
    }
  }, [])
  return (
    <>
      <ProblemNotice text={problem} />
      {image !== undefined && (
        <img
          class="preview-image"
          src={image}
          alt={label}
          onError={() => setProblem(words.notShown)}
        />
      )}
      {text !== undefined && (
        <pre class="preview-text" tabIndex={0}>
          {text}
        </pre>
      )}
    </>
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

  // Before the browser paints: the next key can follow at once.
  useLayoutEffect(() => {
    const onKeyDown = ({ key }: KeyboardEvent): void => {
      if (key === 'ArrowLeft') show(-1)
      if (key === 'ArrowRight') show(1)
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [at, photos])
  return (
    <>
      <IconButton icon="left" label={words.previous} onClick={() => show(-1)} />
      <span class="quiet">
        {formatCount(at + 1)} / {formatCount(photos.length)}
      </span>
      <IconButton icon="right" label={words.next} onClick={() => show(1)} />
    </>
  )
}
