import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { extensionOf, kindOf } from '../../shared/file-kind.ts'
import { formatBytes } from '../../shared/format.ts'
import { Icon } from '../../shared/icon.tsx'
import { KindIcon } from '../../shared/kind-icon.tsx'
import type { FileEntry } from '../../shared/model.ts'
import type { FileContent } from '../file-content.ts'
import { ImageView } from './image-view.tsx'
import { TextView } from './text-view.tsx'
import { words } from './words.ts'

export interface StageProps {
  readonly file: FileEntry
  readonly content: FileContent
  readonly onPrevious: () => void
  readonly onNext: () => void
}

/** The content of a file, or a way to download it if the browser cannot show it. */
export function FileStage({ file, content, onPrevious, onNext }: StageProps) {
  const [hasFailed, setFailed] = useState(false)
  const onFail = (): void => setFailed(true)
  const url = content.inlineUrlOf(file)
  switch (hasFailed ? undefined : shownAs(file)) {
    case 'image':
      return <ImageView {...{ url, name: file.name, onFail, onPrevious, onNext }} />
    case 'video':
    case 'audio':
      return <Player url={url} file={file} onFail={onFail} />
    case 'text':
      return <TextView file={file} content={content} onFail={onFail} />
    case undefined:
      return <NotShown file={file} url={content.downloadUrlOf(file)} hasFailed={hasFailed} />
  }
}

type Shown = 'image' | 'video' | 'audio' | 'text'

/** How a file is shown. The browser decodes images and films, and text is set as text: nothing is run. */
function shownAs({ name, media_type: type, size }: FileEntry): Shown | undefined {
  const kind = kindOf(name, type)
  if (kind === 'text' || kind === 'code' || TABLES.has(extensionOf(name))) return 'text'
  if (size === 0) return undefined
  if (kind === 'image') return UNDECODED.has(extensionOf(name)) ? undefined : 'image'
  return kind === 'video' || kind === 'audio' ? kind : undefined
}

const TABLES: ReadonlySet<string> = new Set(['csv', 'tsv'])

/** No browser decodes them, or the service does not let them be shown. */
const UNDECODED: ReadonlySet<string> = new Set(['svg', 'tif', 'tiff', 'raw', 'dng'])

interface PlayerProps {
  readonly url: string
  readonly file: FileEntry
  readonly onFail: () => void
}

/** Browsers read the ranges that they play. */
function Player({ url, file, onFail }: PlayerProps) {
  const player = useRef<HTMLVideoElement & HTMLAudioElement>(null)
  useLayoutEffect(() => {
    const { current } = player
    // An element that is merely removed goes on reading for a while.
    return () => {
      current?.removeAttribute('src')
      current?.load()
    }
  }, [])
  const common = {
    src: url,
    controls: true,
    preload: 'metadata',
    'aria-label': file.name,
    onError: onFail,
  } as const
  return (
    <div class="viewer-stage">
      {kindOf(file.name, file.media_type) === 'video' ? (
        <video ref={player} playsInline {...common} />
      ) : (
        <div class="viewer-card">
          <KindIcon kind="audio" />
          <audio ref={player} {...common} />
        </div>
      )}
    </div>
  )
}

interface NotShownProps {
  readonly file: FileEntry
  readonly url: string
  readonly hasFailed: boolean
}

function NotShown({ file, url, hasFailed }: NotShownProps) {
  const download = useRef<HTMLAnchorElement>(null)
  useEffect(() => {
    if (!hasFailed) return
    // Screen readers are told of what else there is.
    download.current?.focus()
  }, [hasFailed])
  return (
    <div class="viewer-stage">
      <div class="viewer-card">
        <KindIcon kind={kindOf(file.name, file.media_type)} />
        <p>{file.size === 0 ? words.empty : words.notShown}</p>
        <a ref={download} class="button button-main" href={url} download={file.name}>
          <Icon name="download" />
          {words.download(formatBytes(file.size))}
        </a>
      </div>
    </div>
  )
}
