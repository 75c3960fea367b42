import { type ReadonlySignal, signal } from '@preact/signals'
import { remember, remembered } from '../../shared/remembered.ts'

/** Whether the files are a list or a grid, as the browser remembers. The grid is loaded when it is first shown. */
export interface Layout<View> {
  readonly isGrid: ReadonlySignal<boolean>
  /** `undefined` until it is loaded. */
  readonly Grid: ReadonlySignal<View | undefined>
  /** Rejects if the grid cannot be loaded, as after an update of the service; the list is shown then. */
  show(isGrid: boolean): Promise<void>
  /** Shows what the browser remembers, or the list if the grid cannot be loaded. */
  restore(): Promise<void>
}

const KEY = 'cloud-repository-layout'

/** `loadGrid` is called until it has resolved once. */
export function createLayout<View>(loadGrid: () => Promise<View>): Layout<View> {
  const isGrid = signal(false)
  const Grid = signal<View | undefined>(undefined)

  async function show(asGrid: boolean): Promise<void> {
    isGrid.value = asGrid
    if (!asGrid || Grid.value !== undefined) return
    try {
      Grid.value = await loadGrid()
    } catch (error) {
      isGrid.value = false
      throw error
    }
  }

  return {
    isGrid,
    Grid,

    async show(asGrid) {
      remember(KEY, asGrid ? 'grid' : 'list')
      await show(asGrid)
    },

    async restore() {
      await show(remembered(KEY) === 'grid').catch(() => undefined)
    },
  }
}
