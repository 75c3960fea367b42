import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Page } from '../user-page.ts'

/**
 * Loads what moves files by dragging them within the region. If it cannot be loaded, as after an update of the service,
 * they still move by the dialog.
 */
export function useDragging(region: RefObject<HTMLElement>, page: Page): void {
  useEffect(() => {
    let stop: (() => void) | undefined
    let isGone = false

    async function begin(): Promise<void> {
      const { takeDragged } = await import('./dragging.ts')
      if (!isGone && region.current !== null) stop = takeDragged(region.current, page)
    }

    begin().catch(() => undefined)
    return () => {
      isGone = true
      stop?.()
    }
  }, [])
}
