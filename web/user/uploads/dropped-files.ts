import { folderAt } from '../folders/folder-at.ts'
import type { GatheredFile } from '../../shared/gathered-file.ts'
import { gatherDropped } from '../../shared/gathered-files.ts'

/**
 * Takes files and folders that are dropped on an element, which has the class `drag-over` while they are above it. They
 * are for the folder whose element, with `data-folder`, they are dropped on.
 */
export function takeDroppedFiles(
  target: HTMLElement,
  onDropped: (files: readonly GatheredFile[], folder: string | undefined) => void,
): void {
  function listen(
    type: 'dragover' | 'dragleave' | 'drop',
    act: (data: DataTransfer, at: EventTarget | null) => void,
  ): void {
    target.addEventListener(type, (event) => {
      const { dataTransfer } = event
      if (dataTransfer?.types.includes('Files') !== true) return
      event.preventDefault()
      target.classList.toggle('drag-over', type === 'dragover')
      act(dataTransfer, event.target)
    })
  }
  listen('dragover', (data) => {
    data.dropEffect = 'copy'
  })
  listen('dragleave', () => undefined)
  listen('drop', (data, at) => {
    void take(gatherDropped(data), folderAt(at)?.dataset['folder'])
  })

  async function take(gathered: Promise<readonly GatheredFile[]>, folder?: string): Promise<void> {
    const files = await gathered
    if (files.length > 0) onDropped(files, folder)
  }
}
