import { formatBytes } from '../../shared/format.ts'
import { Icon } from '../../shared/icon.tsx'
import { IconButton } from '../../shared/icon-button.tsx'
import { messages } from '../../messages.ts'
import { kindOf } from '../../shared/file-kind.ts'
import type { UploadFigures } from './upload-figures.ts'
import type { UploadItem, UploadState, UploadTree } from './upload-item.ts'
import { isMarker, nameIn } from '../../shared/folder.ts'
import type { Uploads } from './queue.ts'
import { ShownName } from '../../shared/shown-name.tsx'
import { visibleText } from '../../shared/visible-text.ts'

const words = messages.uploads

export interface UploadRowProps {
  readonly item: UploadItem
  readonly uploads: Uploads
  /** Offset in the list, in pixels. */
  readonly top: number
  /** Items change in place; a new value triggers a render. */
  readonly shown: UploadFigures
  /** Whether the service responds. */
  readonly isConnected: boolean
}

export function UploadRow({ item, uploads, top, shown, isConnected }: UploadRowProps) {
  const { name, state, tree } = item
  const text = stateText(item, isConnected)
  const kind = isMarker(name) ? 'folder' : kindOf(name)
  const isBad = (state.kind === 'full' && state.missing > 0) || state.kind === 'refused'
  return (
    <li
      class={tree === undefined ? 'upload' : 'upload upload-below'}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span class={`kind kind-${state.kind === 'done' ? 'done' : kind}`}>
        <Icon name={state.kind === 'done' ? 'check' : kind} />
      </span>
      <div class="upload-words">
        <span class="upload-name" title={visibleText(name)}>
          <ShownName name={tree === undefined ? name : nameBelow(tree, name)} />
        </span>
        {state.kind === 'sending' && (
          <span class="bar bar-thin">
            <span style={{ width: `${item.size === 0 ? 0 : (item.sent / item.size) * 100}%` }} />
          </span>
        )}
        <span class={isBad ? 'upload-state bad' : 'upload-state quiet'} title={text}>
          {text}
        </span>
      </div>
      <Choices item={item} uploads={uploads} shown={shown} />
    </li>
  )
}

function nameBelow({ folder }: UploadTree, name: string): string {
  return name.startsWith(folder) ? nameIn(folder, name) : name
}

type ChoicesProps = Omit<UploadRowProps, 'top' | 'isConnected'>

function Choices(props: ChoicesProps) {
  const decisions = decisionsOf(props)
  if (decisions.length === 0) return <Actions {...props} />
  return (
    <div class="upload-choices">
      {decisions.map(({ text, run }) => (
        <button key={text} type="button" class="button button-small" onClick={() => void run()}>
          {text}
        </button>
      ))}
    </div>
  )
}

interface Decision {
  readonly text: string
  readonly run: () => unknown
}

/** What the user can decide about an upload that waits for a decision. */
function decisionsOf({ item, uploads }: ChoicesProps): readonly Decision[] {
  const { may } = uploads.permissions
  const goOn = () => uploads.continueHere(item)
  const skip = { text: words.skip, run: () => uploads.remove([item]) }
  const replace = { text: words.replace, run: () => uploads.replace([item]) }
  const keepBoth = { text: words.keepBoth, run: () => uploads.keepBoth(item) }
  const decisions: Partial<Record<UploadState['kind'], readonly Decision[]>> = {
    exists: [...(may('replace') ? [replace] : []), ...(may('create') ? [keepBoth] : []), skip],
    unseen: [replace, skip],
    differs: [
      { text: words.goOn, run: goOn },
      { text: words.startOver, run: () => uploads.startOver(item) },
      skip,
    ],
    elsewhere: [{ text: words.goOnHere, run: goOn }, skip],
  }
  return decisions[item.state.kind] ?? []
}

function Actions({ item, uploads }: ChoicesProps) {
  const { state, name } = item
  const canRetry = ['full', 'refused', 'lost', 'paused'].includes(state.kind)
  const isOver = ['full', 'refused', 'done'].includes(state.kind)
  return (
    <div class="upload-choices">
      {canRetry && (
        <IconButton
          icon="retry"
          label={words.retry(name)}
          title={messages.retry}
          onClick={() => uploads.retry([item])}
        />
      )}
      <IconButton
        icon="close"
        label={isOver ? words.dismiss(name) : words.cancel(name)}
        title={isOver ? messages.close : messages.cancel}
        onClick={() => void uploads.remove([item])}
      />
    </div>
  )
}

function stateText(item: UploadItem, isConnected: boolean): string {
  const { name, state, size, sent } = item
  const { states } = words
  switch (state.kind) {
    case 'sending':
      if (!isConnected) return states.lost
      return sent >= size && size > 0 ? states.finishing : states.sending(sent, size)
    case 'full':
      return state.missing === 0 ? words.fits : words.full(state.missing, state.available)
    case 'refused':
      return state.text
    case 'signed_out':
      return states.signedOut
    case 'checking':
    case 'paused':
    case 'waiting':
      return isConnected ? `${states.waiting}, ${formatBytes(size)}` : states.lost
    case 'done':
      return `${states.done}, ${isMarker(name) ? words.tree.empty : formatBytes(size)}`
    case 'differs':
    case 'elsewhere':
    case 'exists':
    case 'lost':
    case 'unseen':
      return states[state.kind]
  }
}
