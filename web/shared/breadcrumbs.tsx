import { messages } from '../messages.ts'
import { foldersAround, labelOf, SEPARATOR } from './folder.ts'
import { ShownName } from './shown-name.tsx'

export interface BreadcrumbsProps {
  readonly label: string
  readonly isLabelShown?: boolean
  readonly folder: string
  /** The folder around everything that the token permits; mostly empty. */
  readonly base: string
  readonly onOpen: (folder: string) => void
}

/** The folders around the open one and itself, as buttons that open them. Files can be dropped on them. */
export function Breadcrumbs({
  label,
  isLabelShown = false,
  folder,
  base,
  onOpen,
}: BreadcrumbsProps) {
  const folders = [base, ...foldersAround(folder, base)]
  return (
    <nav class="breadcrumbs" aria-label={label}>
      {isLabelShown && <span class="quiet">{label}</span>}
      <ol>
        {folders.map((each, at) => (
          <li key={each}>
            {at > 0 && (
              <span class="quiet" aria-hidden="true">
                {SEPARATOR}
              </span>
            )}
            <button
              type="button"
              class="crumb"
              data-folder={each}
              aria-current={at === folders.length - 1 ? 'page' : undefined}
              onClick={() => onOpen(each)}
            >
              {at === 0 ? messages.folders.all : <ShownName name={labelOf(each)} />}
            </button>
          </li>
        ))}
      </ol>
    </nav>
  )
}
