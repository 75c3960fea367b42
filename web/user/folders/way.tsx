import { ShownName } from '../../shared/shown-name.tsx'
import { messages } from '../../messages.ts'
import { labelOf, SEPARATOR, wayTo } from './folder.ts'

export interface WayProps {
  readonly label: string
  readonly isLabelShown?: boolean
  readonly folder: string
  /** The folder around everything that the token permits; mostly empty. */
  readonly base: string
  readonly onOpen: (folder: string) => void
}

/** The folders around a folder and the folder itself, as buttons that open them. Files can be dropped on them. */
export function Way({ label, isLabelShown = false, folder, base, onOpen }: WayProps) {
  const way = [base, ...wayTo(folder, base)]
  return (
    <nav class="way" aria-label={label}>
      {isLabelShown && <span class="quiet">{label}</span>}
      <ol>
        {way.map((each, at) => (
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
              aria-current={at === way.length - 1 ? 'page' : undefined}
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
