import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import { mayHaveThumbnail } from '../shared/thumbnails/may-have-thumbnail.ts'
import { kindOf } from '../shared/file-kind.ts'
import { firstClick } from '../shared/first-click.ts'
import { formatBytes } from '../shared/format.ts'
import { Icon } from '../shared/icon.tsx'
import { KindIcon } from '../shared/kind-icon.tsx'
import { messages } from '../messages.ts'
import { DownloadAll } from './download-all.tsx'
import { FolderBar } from './folder-bar.tsx'
import { shownAs } from './shown-as.ts'
import { useLoaded } from './use-loaded.ts'
import { MoreButton } from './more-button.tsx'
import {
  type FolderContents,
  folderContents,
  type LinkedFile,
  type LinkedFolder,
} from './folder-contents.ts'
import type { OpenLink, Visit } from './visit.ts'
import { ShownName } from '../shared/shown-name.tsx'
import { words } from './words.ts'

export interface LinkedFilesProps {
  readonly visit: Visit
  readonly link: OpenLink
}

/** So many more entries are rendered each time that the visitor gets to the end. */
const STEP = 200

/** The folders and files of a download link. */
export function LinkedFiles({ visit, link }: LinkedFilesProps) {
  const { files, next_cursor: next, uses_left: left } = link
  const folder = visit.folder.value
  const isWhole = next === null
  const isLimited = left !== null
  const [previewed, setPreviewed] = useState<LinkedFile>()
  const Preview = useLoaded(
    previewed !== undefined,
    async () => (await import('./preview.tsx')).Preview,
  )
  const [most, setMost] = useState(STEP)
  const contents = useMemo(() => folderContents(files, folder), [files, folder])
  const photos = useMemo(() => contents.files.filter(({ file }) => isPhoto(file)), [contents])
  // A preview would take a use.
  const hasGrid = photos.length > 0 && !isLimited
  const Grid = useLoaded(hasGrid, async () => (await import('./photo-grid.tsx')).PhotoGrid)
  const parts = useMemo(() => partsOf(contents, Grid !== undefined), [contents, Grid])
  useEffect(() => setMost(STEP), [folder])
  // It may have been the last use.
  const onDownload = useCallback((): void => {
    if (isLimited) setTimeout(() => void visit.recount(), RECOUNT_MS)
  }, [isLimited])
  if (files.length === 0 && isWhole) return <p class="visit-empty quiet">{words.empty}</p>
  const hasFolders = folder !== '' || contents.folders.length > 0
  const shown = firstParts(parts, most)
  const isAll = shown.length === parts.length
  return (
    <>
      {(files.length > 1 || !isWhole) && (left === null || files.length <= left) && (
        <DownloadAll visit={visit} link={link} onDownload={onDownload} />
      )}
      {hasFolders && <FolderBar visit={visit} />}
      {parts.length === 0 && <p class="quiet">{isWhole ? words.empty : messages.files.loading}</p>}
      <div>
        {shown.map((part, at) =>
          part.isGrid && Grid !== undefined ? (
            <Grid key={at} visit={visit} photos={part.entries} onPreview={setPreviewed} />
          ) : (
            <Part
              key={at}
              visit={visit}
              entries={part.entries}
              isWhole={isWhole}
              isOnly={files.length === 1}
              isLimited={isLimited}
              onPreview={setPreviewed}
              onDownload={onDownload}
            />
          ),
        )}
      </div>
      {(!isAll || visit.isCut.value) && (
        <MoreButton
          onMore={() => {
            setMost(most + STEP)
            if (isAll) void visit.readMore()
          }}
        />
      )}
      {previewed !== undefined && Preview !== undefined && (
        <Preview
          visit={visit}
          file={previewed}
          photos={photos}
          onShow={setPreviewed}
          onClose={() => setPreviewed(undefined)}
        />
      )}
    </>
  )
}

type ShownFile = FolderContents['files'][number]

type Entry = LinkedFolder | ShownFile

type EntryPart =
  | { readonly isGrid: false; readonly entries: readonly Entry[] }
  | { readonly isGrid: true; readonly entries: readonly ShownFile[] }

/** The folders, the photos if they are shown as a grid, and the files. */
function partsOf({ folders, files }: FolderContents, hasGrid: boolean): readonly EntryPart[] {
  const isTile = ({ file }: ShownFile): boolean => hasGrid && isPhoto(file)
  const photos = files.filter(isTile)
  if (photos.length === 0) return rowsOf([...folders, ...files])
  const tiles = chunksOf(photos).map((entries) => ({ isGrid: true, entries }) as const)
  return [...rowsOf(folders), ...tiles, ...rowsOf(files.filter((file) => !isTile(file)))]
}

function rowsOf(entries: readonly Entry[]): readonly EntryPart[] {
  return chunksOf(entries).map((chunk) => ({ isGrid: false, entries: chunk }))
}

/** As many parts as it takes for so many entries. */
function firstParts(parts: readonly EntryPart[], most: number): readonly EntryPart[] {
  let before = 0
  return parts.filter(({ entries }) => {
    const isShown = before < most
    before += entries.length
    return isShown
  })
}

function chunksOf<T>(entries: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(entries.length / STEP) }, (_, at) =>
    entries.slice(at * STEP, (at + 1) * STEP),
  )
}

function isPhoto(file: LinkedFile): boolean {
  return shownAs(file) === 'image' && mayHaveThumbnail(file)
}

interface PartProps extends FileEntriesProps {
  readonly entries: readonly Entry[]
  /** Whether all files of the link are known. */
  readonly isWhole: boolean
  readonly onPreview: (file: LinkedFile) => void
}

/** Some of the entries, rendered once: there can be thousands before those that are added. */
function Part({ entries, isWhole, onPreview, ...common }: PartProps) {
  const { visit, isOnly, isLimited, onDownload } = common
  return useMemo(
    () => (
      <ul class="visit-files visit-part">
        {entries.map((entry) =>
          'count' in entry ? (
            <FolderEntry
              key={entry.path}
              folder={entry}
              isWhole={isWhole}
              onOpen={() => visit.openFolder(entry.path)}
            />
          ) : (
            <FileEntry
              key={entry.file.name}
              {...common}
              {...entry}
              onPreview={() => onPreview(entry.file)}
            />
          ),
        )}
      </ul>
    ),
    [entries, isWhole, isOnly, isLimited, onDownload],
  )
}

const RECOUNT_MS = 2_000

interface FolderEntryProps {
  readonly folder: LinkedFolder
  /** Whether all of its files are known. */
  readonly isWhole: boolean
  readonly onOpen: () => void
}

function FolderEntry({ folder, isWhole, onOpen }: FolderEntryProps) {
  const { label, count, bytes } = folder
  return (
    <li class="visit-file">
      <button type="button" class="visit-folder" onClick={firstClick(onOpen)}>
        <KindIcon kind="folder" />
        <span class="visit-name">
          <ShownName name={label} />
          <span class="quiet">{isWhole && words.inFolder(count, formatBytes(bytes))}</span>
        </span>
        <Icon name="right" />
      </button>
    </li>
  )
}

interface FileEntriesProps {
  readonly visit: Visit
  readonly isOnly: boolean
  /** Whether a preview would take a use. */
  readonly isLimited: boolean
  readonly onDownload: () => void
}

interface FileEntryProps extends FileEntriesProps {
  readonly file: LinkedFile
  /** Its name in the open folder. */
  readonly label: string
  readonly onPreview: () => void
}

function FileEntry(props: FileEntryProps) {
  const { visit, file, label, isOnly, isLimited, onPreview, onDownload } = props
  const { name, size, media_type: type } = file
  const isShown = !isLimited && shownAs(file) !== undefined
  return (
    <li class="visit-file">
      <KindIcon kind={kindOf(name, type)} />
      <span class="visit-name">
        {isShown ? (
          // The button beside it does the same.
          <span class="visit-open" onClick={onPreview}>
            <ShownName name={label} />
          </span>
        ) : (
          <ShownName name={label} />
        )}
        <span class="quiet">{formatBytes(size)}</span>
      </span>
      {isShown && (
        <button
          type="button"
          class="button"
          aria-label={words.previewNamed(label)}
          onClick={onPreview}
        >
          {words.preview}
        </button>
      )}
      <a
        class={isOnly ? 'button button-main' : 'button'}
        href={visit.connection.urlOf(visit.pathOf(name))}
        download={label}
        aria-label={messages.files.download(label)}
        onClick={onDownload}
      >
        <Icon name="download" />
        {messages.files.actions.download}
      </a>
    </li>
  )
}
