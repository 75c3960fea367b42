import { extensionOf } from '../shared/file-kind.ts'
import type { LinkedFile } from './folder-contents.ts'

const IMAGES: ReadonlySet<string> = new Set(['jpg', 'jpeg', 'png', 'webp', 'gif', 'avif'])
const TEXTS: ReadonlySet<string> = new Set(['txt', 'md', 'csv', 'log', 'json'])

const MAX_IMAGE_BYTES = 32 * 2 ** 20
const MAX_TEXT_BYTES = 256 * 2 ** 10

/** How a file is shown: the browser decodes images, and text is set as text. Nothing is run. */
export function shownAs({ name, size }: LinkedFile): 'image' | 'text' | undefined {
  const extension = extensionOf(name)
  if (IMAGES.has(extension) && size <= MAX_IMAGE_BYTES) return 'image'
  return TEXTS.has(extension) && size <= MAX_TEXT_BYTES ? 'text' : undefined
}
