import { useRef } from 'preact/hooks'
import type { Entry } from '../files/shown-entries.ts'
import { messages } from '../../messages.ts'
import { folderAt } from '../folders/folder-at.ts'
import type { Page } from '../user-page.ts'
import { isWithin, planMoves } from './move.ts'

/** Marks what is dragged within the page, so that nothing else takes it. */
const TYPE = 'application/x-cloud-repository'

/**
 * Handlers, of the element that contains the files and the way to them. They move a file, a folder or the selection that
 * is dropped on a folder, an element with `data-folder`, which has the class `drop-target` while it would take them. Of
 * files from outside, they only mark the folder: `takeDroppedFiles` uploads them. The browser ends a drag with Escape.
 */
export function useDragging(page: Page) {
  const { list, folders, selection, permissions, toasts } = page
  const dragged = useRef<readonly Entry[]>([])
  const marked = useRef<HTMLElement>()

  function mark(target: HTMLElement | undefined): void {
    if (target === marked.current) return
    marked.current?.classList.remove('drop-target')
    target?.classList.add('drop-target')
    marked.current = target
    folders.target.value = target?.dataset['folder']
  }

  /** The folder below the pointer, if it takes what is dragged. */
  function targetOf(event: DragEvent): HTMLElement | undefined {
    const target = folderAt(event.target)
    const folder = target?.dataset['folder']
    if (target === undefined || folder === undefined) return undefined
    const types = event.dataTransfer?.types ?? []
    if (types.includes('Files')) return permissions.mayUpload() ? target : undefined
    const { current } = dragged
    const isOpen = types.includes(TYPE) && !isWithin(folder, current)
    return isOpen && planMoves(current, folder).length > 0 ? target : undefined
  }

  function end(): void {
    mark(undefined)
    dragged.current = []
  }

  async function move(entries: readonly Entry[], folder: string): Promise<void> {
    const { checkMoves, moveEntries } = await import('./move-entries.ts')
    const moves = planMoves(entries, folder)
    await checkMoves(page, moves)
    await moveEntries(page, moves)
  }

  return {
    onDragStart(event: DragEvent) {
      const item = event.target instanceof Element ? event.target.closest('[draggable=true]') : null
      const entry = list.entries.value[Number(item?.getAttribute('data-index') ?? NaN)]
      if (entry === undefined || event.dataTransfer === null) return
      dragged.current = selection.has(entry) ? selection.entries.value : [entry]
      event.dataTransfer.effectAllowed = 'move'
      event.dataTransfer.setData(TYPE, '')
      if (dragged.current.length > 1) showCount(event.dataTransfer, dragged.current.length)
    },

    onDragOver(event: DragEvent) {
      const target = targetOf(event)
      mark(target)
      if (target === undefined || event.dataTransfer?.types.includes(TYPE) !== true) return
      event.preventDefault()
      event.dataTransfer.dropEffect = 'move'
    },

    onDragLeave(event: DragEvent) {
      if (event.relatedTarget === null) mark(undefined)
    },

    onDrop(event: DragEvent) {
      const folder = targetOf(event)?.dataset['folder']
      const { current } = dragged
      end()
      if (folder === undefined || current.length === 0) return
      event.preventDefault()
      void toasts.attempt(() => move(current, folder))
    },

    onDragEnd: end,
  }
}

/** Shows beside the pointer how many are dragged, instead of the one that was below it. */
function showCount(data: DataTransfer, count: number): void {
  const image = document.createElement('div')
  image.className = 'drag-image'
  image.textContent = messages.selection.count(count)
  document.body.append(image)
  data.setDragImage(image, -12, -12)
  setTimeout(() => image.remove())
}
