import './photo-grid.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import { formatBytes } from '../shared/format.ts'
import { Icon } from '../shared/icon.tsx'
import { DownloadButton } from '../shared/icon-button.tsx'
import { ShownName } from '../shared/shown-name.tsx'
import { createRangeReader } from '../shared/range-reader.ts'
import { createSemaphore } from '../shared/thumbnails/semaphore.ts'
import { makeThumbnail } from '../shared/thumbnails/make-thumbnail.ts'
import { messages } from '../messages.ts'
import type { FolderContents, LinkedFile } from './folder-contents.ts'
import type { Visit } from './visit.ts'
import { words } from './words.ts'

export interface PhotoGridProps {
  readonly visit: Visit
  readonly photos: FolderContents['files']
  readonly onPreview: (file: LinkedFile) => void
}

/** Photos as tiles, with previews that are made of their beginnings. */
export function PhotoGrid({ visit, photos, onPreview }: PhotoGridProps) {
  return (
    <ul class="photos">
      {photos.map(({ label, file }) => (
        <li key={file.name} class="photo">
          <button
            type="button"
            class="photo-open"
            aria-label={words.previewNamed(label)}
            onClick={() => onPreview(file)}
          >
            <Picture visit={visit} file={file} />
            <span class="photo-name visit-name">
              <ShownName name={label} />
            </span>
          </button>
          <span class="photo-foot">
            <span class="quiet">{formatBytes(file.size)}</span>
            <DownloadButton
              url={visit.connection.urlOf(visit.pathOf(file.name))}
              name={label}
              label={messages.files.download(label)}
            />
          </span>
        </li>
      ))}
    </ul>
  )
}

interface PictureProps {
  readonly visit: Visit
  readonly file: LinkedFile
}

/** An icon, until the photo comes near the view. Far from it, its preview is dropped again. */
function Picture({ visit, file }: PictureProps) {
  const place = useRef<HTMLSpanElement>(null)
  const [url, setUrl] = useState<string>()
  const isNear = useNear(place, '100%')
  const isFar = !useNear(place, '1000%')
  const hasUrl = url !== undefined
  useEffect(() => {
    if (!isNear || hasUrl) return undefined
    const leaving = new AbortController()
    async function load(): Promise<void> {
      const preview = await previewOf({ visit, file, signal: leaving.signal })
      if (preview !== undefined && !leaving.signal.aborted) setUrl(URL.createObjectURL(preview))
    }
    void load()
    return () => leaving.abort(new Error('Out of view.'))
  }, [isNear, hasUrl])
  useEffect(() => {
    if (isFar) setUrl(undefined)
  }, [isFar])
  useEffect(() => () => URL.revokeObjectURL(url ?? ''), [url])
  return (
    <span ref={place} class="photo-picture kind kind-image">
      {url === undefined ? <Icon name="image" /> : <img src={url} alt="" decoding="async" />}
    </span>
  )
}

/** Whether an element is at most so far from the view, in parts of its height. */
function useNear(element: { readonly current: Element | null }, distance: string): boolean {
  const [isNear, setNear] = useState(false)
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => setNear(entries.at(-1)?.isIntersecting === true),
      { rootMargin: `${distance} 0px` },
    )
    if (element.current !== null) observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  return isNear
}

/** Browsers open six connections to an origin, of which downloads need some. */
const inTurn = createSemaphore(3)

/** Each photo that is decoded takes four bytes for a pixel. */
const decode = createSemaphore(1)

interface PreviewOptions extends PictureProps {
  readonly signal: AbortSignal
}

/** `undefined` if there is none, as without a connection. Never rejects. */
async function previewOf({ visit, file, signal }: PreviewOptions): Promise<Blob | undefined> {
  const url = visit.connection.urlOf(visit.pathOf(file.name))
  try {
    return await inTurn(() => {
      signal.throwIfAborted()
      const read = createRangeReader({ url, size: file.size, signal })
      return makeThumbnail(file, { read, decode })
    })
  } catch {
    return undefined
  }
}
