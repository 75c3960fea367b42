import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import { kindOf } from '../shared/file-kind.ts'
import { firstClick } from '../shared/first-click.ts'
import { formatBytes } from '../shared/format.ts'
import { Icon } from '../shared/icon.tsx'
import { KindIcon } from '../shared/kind-icon.tsx'
import { messages } from '../messages.ts'
import { DownloadAll } from './download-all.tsx'
import { FolderBar } from './folder-bar.tsx'
import { Preview, previewOf } from './preview.tsx'
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
  const [most, setMost] = useState(STEP)
  const parts = useMemo(() => partsOf(folderContents(files, folder)), [files, folder])
  useEffect(() => setMost(STEP), [folder])
  // It may have been the last use.
  const onDownload = useCallback((): void => {
    if (isLimited) setTimeout(() => void visit.recount(), RECOUNT_MS)
  }, [isLimited])
  if (files.length === 0 && isWhole) return <p class="visit-empty quiet">{words.empty}</p>
  const [first] = parts[0] ?? []
  const hasFolders = folder !== '' || (first !== undefined && 'count' in first)
  const isAll = most >= parts.length * STEP
  return (
    <>
      {(files.length > 1 || !isWhole) && (left === null || files.length <= left) && (
        <DownloadAll visit={visit} link={link} onDownload={onDownload} />
      )}
      {hasFolders && <FolderBar visit={visit} />}
      {first === undefined && <p class="quiet">{isWhole ? words.empty : messages.files.loading}</p>}
      <div>
        {parts.slice(0, most / STEP).map((entries, at) => (
          <Part
            key={at}
            visit={visit}
            entries={entries}
            isWhole={isWhole}
            isOnly={files.length === 1}
            isLimited={isLimited}
            onPreview={setPreviewed}
            onDownload={onDownload}
          />
        ))}
      </div>
      {(!isAll || visit.isCut.value) && (
        <MoreButton
          onMore={() => {
            setMost(most + STEP)
            if (isAll) void visit.readMore()
          }}
        />
      )}
      {previewed !== undefined && (
        <Preview visit={visit} file={previewed} onClose={() => setPreviewed(undefined)} />
      )}
    </>
  )
}

type Entry = LinkedFolder | FolderContents['files'][number]

function partsOf({ folders, files }: FolderContents): readonly (readonly Entry[])[] {
  const entries = [...folders, ...files]
  return Array.from({ length: Math.ceil(entries.length / STEP) }, (_, at) =>
    entries.slice(at * STEP, (at + 1) * STEP),
  )
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
  return (
    <li class="visit-file">
      <KindIcon kind={kindOf(name, type)} />
      <span class="visit-name">
        <ShownName name={label} />
        <span class="quiet">{formatBytes(size)}</span>
      </span>
      {!isLimited && previewOf(file) !== undefined && (
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
