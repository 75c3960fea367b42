import { useEffect, useState } from 'preact/hooks'
import { Dialog } from '../shared/dialog.tsx'
import { failureOf } from '../shared/error-message.ts'
import { extensionOf } from '../shared/file-kind.ts'
import { ProblemNotice } from '../shared/problem-notice.tsx'
import type { LinkedFile } from './folder-contents.ts'
import type { Visit } from './visit.ts'
import { words } from './words.ts'

const IMAGES: ReadonlySet<string> = new Set(['jpg', 'jpeg', 'png', 'webp', 'gif', 'avif'])
const TEXTS: ReadonlySet<string> = new Set(['txt', 'md', 'csv', 'log', 'json'])

const MAX_IMAGE_BYTES = 32 * 2 ** 20
const MAX_TEXT_BYTES = 256 * 2 ** 10

/** How a file is shown: the browser decodes images, and text is set as text. Nothing is run. */
export function previewOf({ name, size }: LinkedFile): 'image' | 'text' | undefined {
  const extension = extensionOf(name)
  if (IMAGES.has(extension) && size <= MAX_IMAGE_BYTES) return 'image'
  return TEXTS.has(extension) && size <= MAX_TEXT_BYTES ? 'text' : undefined
}

interface PreviewProps {
  readonly visit: Visit
  readonly file: LinkedFile
  readonly onClose: () => void
}

export function Preview({ visit, file, onClose }: PreviewProps) {
  const [image, setImage] = useState<string>()
  const [text, setText] = useState<string>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    let url: string | undefined
    const gone = new AbortController()
    async function load(): Promise<void> {
      const address = visit.connection.urlOf(visit.pathOf(file.name))
      const response = await fetch(address, { signal: gone.signal })
      if (!response.ok) throw new Error(`Status ${response.status}.`)
      if (previewOf(file) === 'text') setText(await response.text())
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
    <Dialog title={words.preview} subject={file.name} onClose={onClose}>
      <ProblemNotice text={problem} />
      {image !== undefined && (
        <img
          class="preview-image"
          src={image}
          alt={file.name}
          onError={() => setProblem(words.notShown)}
        />
      )}
      {text !== undefined && (
        <pre class="preview-text" tabIndex={0}>
          {text}
        </pre>
      )}
    </Dialog>
  )
}
