import { useState } from 'preact/hooks'
import { failureOf } from '../shared/error-message.ts'
import { formatBytes } from '../shared/format.ts'
import { Icon } from '../shared/icon.tsx'
import { ProblemNotice } from '../shared/problem-notice.tsx'
import type { OpenLink, Visit } from './visit.ts'
import { words } from './words.ts'

/** Links of no more files are sure to fit into an archive. */
const SURE_FILES = 100

export interface DownloadAllProps {
  readonly visit: Visit
  readonly link: OpenLink
  readonly onDownload: () => void
}

/** One archive of all files of the link, with its folders. */
export function DownloadAll({ visit, link, onDownload }: DownloadAllProps) {
  const [problem, setProblem] = useState<string>()
  const { files, next_cursor: next } = link
  const isSure = next === null && files.length <= SURE_FILES
  const size = next === null ? formatBytes(files.reduce((sum, file) => sum + file.size, 0)) : ''

  /** The problem of a refused download would replace the page. */
  async function ask(): Promise<void> {
    const { ok, status } = await fetch(visit.archive, { method: 'HEAD' })
    if (status === 400) return setProblem(words.tooMany)
    if (!ok) throw new Error(`Status ${status}.`)
    onDownload()
    location.assign(visit.archive)
  }

  return (
    <>
      <a
        class="button button-main"
        href={visit.archive}
        download
        onClick={(event) => {
          if (isSure) return onDownload()
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
