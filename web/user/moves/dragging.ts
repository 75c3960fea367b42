import type { Entry } from '../files/shown-entries.ts'
import { messages } from '../../messages.ts'
import { folderAt } from '../folders/folder-at.ts'
import type { Page } from '../user-page.ts'
import { isWithin, planMoves } from './move.ts'

/** Marks what is dragged within the page, so that nothing else takes it. */
const TYPE = 'application/x-cloud-repository'

/**
 * Moves a file, a folder or the selection that is dragged within the region and dropped on a folder: an element with
 * `data-folder`, which has the class `drop-target` while it would take it. Of files from outside, this only marks the
 * folder, and `takeDroppedFiles` uploads them. The browser ends a drag with Escape. Returns a function that ends this.
 */
export function takeDragged(region: HTMLElement, page: Page): () => void {
  const { list, folders, selection, permissions, toasts } = page
  const listening = new AbortController()
  let dragged: readonly Entry[] = []
  let marked: HTMLElement | undefined

  function listen(type: DragType, act: (event: DragEvent, data: DataTransfer) => void): void {
    const hear = (event: DragEvent): void => {
      if (event.dataTransfer !== null) act(event, event.dataTransfer)
    }
    region.addEventListener(type, hear, { signal: listening.signal })
  }

  function mark(target: HTMLElement | undefined): void {
    if (target === marked) return
    marked?.classList.remove('drop-target')
    target?.classList.add('drop-target')
    marked = target
    folders.target.value = target?.dataset['folder']
  }

  /** The folder below the pointer, if it takes what is dragged. */
  function targetOf(event: DragEvent, { types }: DataTransfer): HTMLElement | undefined {
    const target = folderAt(event.target)
    const folder = target?.dataset['folder']
    if (target === undefined || folder === undefined) return undefined
    if (types.includes('Files')) return permissions.mayUpload() ? target : undefined
    const isOpen = types.includes(TYPE) && !isWithin(folder, dragged)
    return isOpen && planMoves(dragged, folder).length > 0 ? target : undefined
  }

  async function move(entries: readonly Entry[], folder: string): Promise<void> {
    const { checkMoves, moveEntries } = await import('./move-entries.ts')
    const moves = planMoves(entries, folder)
    await checkMoves(page, moves)
    await moveEntries(page, moves)
  }

  listen('dragstart', ({ target }, data) => {
    const item = target instanceof Element ? target.closest('[draggable=true]') : null
    const entry = list.entries.value[Number(item?.getAttribute('data-index') ?? NaN)]
    if (entry === undefined) return
    dragged = selection.has(entry) ? selection.entries.value : [entry]
    data.effectAllowed = 'move'
    data.setData(TYPE, '')
    if (dragged.length > 1) showCount(data, dragged.length)
  })
  listen('dragover', (event, data) => {
    const target = targetOf(event, data)
    mark(target)
    if (target === undefined || !data.types.includes(TYPE)) return
    event.preventDefault()
    data.dropEffect = 'move'
  })
  listen('dragleave', ({ relatedTarget }) => {
    if (relatedTarget === null) mark(undefined)
  })
  listen('drop', (event, data) => {
    const folder = targetOf(event, data)?.dataset['folder']
    const entries = dragged
    end()
    if (folder === undefined || entries.length === 0) return
    event.preventDefault()
    void toasts.attempt(() => move(entries, folder))
  })
  listen('dragend', end)

  function end(): void {
    mark(undefined)
    dragged = []
  }

  return () => listening.abort()
}

type DragType = 'dragstart' | 'dragover' | 'dragleave' | 'drop' | 'dragend'

/** Shows beside the pointer how many are dragged, instead of the one that was below it. */
function showCount(data: DataTransfer, count: number): void {
  const image = document.createElement('div')
  image.className = 'drag-image'
  image.textContent = messages.selection.count(count)
  document.body.append(image)
  data.setDragImage(image, -12, -12)
  setTimeout(() => image.remove())
}
