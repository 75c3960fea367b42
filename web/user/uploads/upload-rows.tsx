import { useState } from 'preact/hooks'
import { useRowWindow } from '../../shared/virtual-rows.ts'
import { messages } from '../../messages.ts'
import { TreeRow } from './tree-row.tsx'
import type { UploadTree } from './upload-item.ts'
import { rowsOf, type UploadRowsProps } from './upload-trees.ts'
import { UploadRow } from './upload-row.tsx'

const ROW_HEIGHT = 84

/** The uploads, of which those of a folder are one row, that opens. */
export function UploadRows({ uploads, isConnected }: UploadRowsProps) {
  const [open, setOpen] = useState<ReadonlySet<UploadTree>>(new Set())
  const rows = rowsOf(uploads.items.value, open)
  const { setRegion, window } = useRowWindow<HTMLDivElement>(rows.length, { height: ROW_HEIGHT })

  function toggle(tree: UploadTree): void {
    const next = new Set(open)
    if (!next.delete(tree)) next.add(tree)
    setOpen(next)
  }

  return (
    <div
      class="upload-rows"
      ref={setRegion}
      tabIndex={0}
      role="group"
      aria-label={messages.uploads.title}
    >
      <ul class="rows-all" style={{ height: `${rows.length * ROW_HEIGHT}px` }}>
        {rows.slice(window.first, window.end).map((row, at) => {
          const common = {
            uploads,
            isConnected,
            top: (window.first + at) * ROW_HEIGHT,
            shown: uploads.figures.value,
          }
          return 'items' in row ? (
            <TreeRow
              key={row.tree.id}
              {...common}
              {...row}
              isOpen={open.has(row.tree)}
              onToggle={() => toggle(row.tree)}
            />
          ) : (
            <UploadRow key={row.id} {...common} item={row} />
          )
        })}
      </ul>
    </div>
  )
}
