import { useEffect, useState } from 'preact/hooks'
import type { LinkEntry } from '../../shared/model.ts'
import type { Page } from '../user-page.ts'
import { LinkList } from './link-list.tsx'
import { isFolderPath, isFor, type LinkPath } from './link-target.ts'
import { words } from './words.ts'

export interface LinksToProps {
  readonly page: Page
  readonly path: LinkPath
  /** Another value reads them again. */
  readonly version: number
}

/** The links that there are to a file or a folder already; nothing while they are not known. */
export function LinksTo({ page, path, version }: LinksToProps) {
  const [links, setLinks] = useState<readonly LinkEntry[]>([])

  async function read(): Promise<void> {
    const all = await Array.fromAsync(page.reader.links.list({ limit: 1_000 }))
    setLinks(all.filter((link) => isFor(link, path)))
  }

  useEffect(() => {
    // Without them, links can be made all the same.
    read().catch(() => undefined)
  }, [version])
  if (links.length === 0) return null
  const title = isFolderPath(path) ? words.existing.folder : words.existing.file
  return <LinkList page={page} links={links} title={title} onChange={() => void read()} />
}
