import { useEffect, useState } from 'preact/hooks'
import { Dialog } from '../shared/dialog.tsx'
import { failureOf } from '../shared/error-message.ts'
import { kindOf } from '../shared/file-kind.ts'
import { formatBytes } from '../shared/format.ts'
import { Icon } from '../shared/icon.tsx'
import { KindIcon } from '../shared/kind-icon.tsx'
import { ProblemNotice } from '../shared/problem-notice.tsx'
import { messages } from '../messages.ts'
import type { LinkedFile, OpenLink, Visit } from './visit.ts'
import { ShownName } from '../shared/shown-name.tsx'
import { words } from './words.ts'

interface Props {
  readonly visit: Visit
  readonly link: OpenLink
}

/** The files of a download link, with a preview of those that a page can show safely. */
export function LinkedFiles({ visit, link }: Props) {
  const [shown, setShown] = useState<LinkedFile>()
  const { files, next_cursor: next, uses_left: left } = link
  // It may have been the last use.
  const onDownload = (): void => {
    if (left !== null) setTimeout(() => void visit.recount(), RECOUNT_MS)
  }
  if (files.length === 0 && next === null) return <p class="visit-empty quiet">{words.empty}</p>
  return (
    <>
      {(files.length > 1 || next !== null) && (left === null || files.length <= left) && (
        <DownloadAll visit={visit} link={link} onDownload={onDownload} />
      )}
      <ul class="visit-files">
        {files.map((file) => (
          <li key={file.name} class="visit-file">
            <KindIcon kind={kindOf(file.name)} />
            <span class="visit-name">
              <ShownName name={file.name} />
              <span class="quiet">{formatBytes(file.size)}</span>
            </span>
            {/* A preview would take a use. */}
            {left === null && previewOf(file) !== undefined && (
              <button
                type="button"
                class="button"
                aria-label={words.previewNamed(file.name)}
                onClick={() => setShown(file)}
              >
                {words.preview}
              </button>
            )}
            <a
              class={files.length === 1 ? 'button button-main' : 'button'}
              href={visit.connection.urlOf(visit.pathOf(file.name))}
              download={file.name}
              aria-label={messages.files.download(file.name)}
              onClick={onDownload}
            >
              <Icon name="download" />
              {messages.files.actions.download}
            </a>
          </li>
        ))}
      </ul>
      {next !== null && (
        <button type="button" class="button" onClick={() => void visit.readMore()}>
          {messages.showMore}
        </button>
      )}
      {shown !== undefined && (
        <Preview visit={visit} file={shown} onClose={() => setShown(undefined)} />
      )}
    </>
  )
}

const RECOUNT_MS = 2_000

/** One archive of all files of the link. */
function DownloadAll({ visit, link, onDownload }: Props & { readonly onDownload: () => void }) {
  const [problem, setProblem] = useState<string>()
  const address = visit.connection.urlOf(visit.pathOf('archive') + '/')
  const isWhole = link.next_cursor === null
  const size = isWhole ? formatBytes(link.files.reduce((sum, file) => sum + file.size, 0)) : ''

  /** The problem of a refused download would replace the page. */
  async function ask(): Promise<void> {
    const { ok, status } = await fetch(address, { method: 'HEAD' })
    if (status === 400) return setProblem(words.tooMany)
    if (!ok) throw new Error(`Status ${status}.`)
    onDownload()
    location.assign(address)
  }

  return (
    <>
      <a
        class="button button-main"
        href={address}
        download
        onClick={(event) => {
          if (isWhole) return onDownload()
          event.preventDefault()
          ask().catch((error: unknown) => setProblem(failureOf(error)))
        }}
      >
        <Icon name="download" />
        {words.all(size)}
      </a>
      <ProblemNotice text={problem} />
    </>
  )
}

const IMAGES: ReadonlySet<string> = new Set(['jpg', 'jpeg', 'png', 'webp', 'gif', 'avif'])
const TEXTS: ReadonlySet<string> = new Set(['txt', 'md', 'csv', 'log', 'json'])

const MAX_IMAGE_BYTES = 32 * 2 ** 20
const MAX_TEXT_BYTES = 256 * 2 ** 10

/** How a file is shown: the browser decodes images, and text is set as text. Nothing is run. */
function previewOf({ name, size }: LinkedFile): 'image' | 'text' | undefined {
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  if (IMAGES.has(extension) && size <= MAX_IMAGE_BYTES) return 'image'
  return TEXTS.has(extension) && size <= MAX_TEXT_BYTES ? 'text' : undefined
}

interface PreviewProps {
  readonly visit: Visit
  readonly file: LinkedFile
  readonly onClose: () => void
}

function Preview({ visit, file, onClose }: PreviewProps) {
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
