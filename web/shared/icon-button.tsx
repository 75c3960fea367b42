import { messages } from '../messages.ts'
import { Icon, type IconName } from './icon.tsx'

export interface IconButtonProps {
  readonly icon: IconName
  /** What the button does, and to what. */
  readonly label: string
  /** A shorter label, for those who see what the button belongs to. */
  readonly title?: string
  /** Further classes. */
  readonly class?: string
  readonly tabIndex?: number
  readonly isBusy?: boolean
  readonly onClick: () => void
}

export function IconButton(props: IconButtonProps) {
  const { icon, label, title = label, class: further = '', tabIndex, isBusy, onClick } = props
  return (
    <button
      type="button"
      class={`icon-button ${further}`}
      tabIndex={tabIndex}
      aria-label={label}
      title={title}
      aria-busy={isBusy}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  )
}

export interface DownloadButtonProps {
  readonly url: string
  /** The name under which the browser saves it. */
  readonly name: string
  readonly label: string
  /** Further classes. */
  readonly class?: string
  readonly tabIndex?: number
}

export function DownloadButton(props: DownloadButtonProps) {
  const { url, name, label, class: further = '', tabIndex } = props
  return (
    <a
      class={`icon-button ${further}`}
      href={url}
      download={name}
      tabIndex={tabIndex}
      aria-label={label}
      title={messages.files.actions.download}
    >
      <Icon name="download" />
    </a>
  )
}
