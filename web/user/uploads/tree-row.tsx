import { Icon } from '../../shared/icon.tsx'
import { IconButton } from '../../shared/icon-button.tsx'
import { messages } from '../../messages.ts'
import { ShownName } from '../../shared/shown-name.tsx'
import { visibleText } from '../../shared/visible-text.ts'
import { labelOf } from '../../shared/folder.ts'
import { figuresOf, needsRetry, waitsForUser } from './upload-figures.ts'
import type { TreeUploads, UploadRowsProps } from './upload-trees.ts'

const words = messages.uploads

export interface TreeRowProps extends UploadRowsProps, TreeUploads {
  /** Offset in the list, in pixels. */
  readonly top: number
  readonly isOpen: boolean
  readonly onToggle: () => void
}

/** How far a folder is, and what can be done with all of its uploads. */
export function TreeRow(props: TreeRowProps) {
  const { tree, items, top, isOpen, isConnected, onToggle } = props
  const { all, done, active } = figuresOf(items, 0)
  const name = labelOf(tree.folder)
  const size = items.reduce((sum, item) => sum + item.size, 0)
  const sent = items.reduce((sum, item) => sum + item.sent, 0)
  const failed = items.filter(needsRetry).length
  const undecided = items.filter(waitsForUser).length - failed
  const isLost = active > 0 && !isConnected
  return (
    <li class="upload" style={{ transform: `translateY(${top}px)` }}>
      <button
        type="button"
        class="upload-tree"
        aria-expanded={isOpen}
        aria-label={words.tree.open(name)}
        title={visibleText(tree.folder)}
        onClick={onToggle}
      >
        <Icon name={isOpen ? 'down' : 'right'} />
        <span class={`kind kind-${done === all ? 'done' : 'folder'}`}>
          <Icon name={done === all ? 'check' : 'folder'} />
        </span>
      </button>
      <div class="upload-words">
        <span class="upload-name" title={visibleText(tree.folder)} onClick={onToggle}>
          <ShownName name={name} />
        </span>
        {active > 0 && (
          <span
            class="bar bar-thin"
            role="progressbar"
            aria-label={words.tree.progress(name)}
            aria-valuemin={0}
            aria-valuemax={100}
            aria-valuenow={size === 0 ? 0 : Math.floor((sent / size) * 100)}
          >
            <span style={{ width: `${size === 0 ? 0 : (sent / size) * 100}%` }} />
          </span>
        )}
        <span class="upload-state quiet">
          {failed > 0 && <strong class="bad">{words.tree.failed(failed)}, </strong>}
          {undecided > 0 && <strong>{words.tree.undecided(undecided)}, </strong>}
          {isLost ? words.states.lost : words.tree.files(done, all)}, {words.tree.bytes(sent, size)}
        </span>
      </div>
      <TreeChoices {...props} name={name} isActive={active > 0} />
    </li>
  )
}

interface TreeChoicesProps extends TreeRowProps {
  readonly name: string
  readonly isActive: boolean
}

function TreeChoices({ uploads, items, name, isActive }: TreeChoicesProps) {
  const failed = items.filter(needsRetry)
  return (
    <div class="upload-choices">
      {failed.length > 0 && (
        <IconButton
          icon="retry"
          label={words.retry(name)}
          title={messages.retry}
          onClick={() => uploads.retry(failed)}
        />
      )}
      <IconButton
        icon="close"
        label={isActive ? words.cancel(name) : words.dismiss(name)}
        title={isActive ? messages.cancel : messages.close}
        onClick={() => void uploads.remove(items)}
      />
    </div>
  )
}
