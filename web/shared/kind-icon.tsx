import type { FileKind } from './file-kind.ts'
import { Icon } from './icon.tsx'

/** What a file is, as a decorative icon in the color of its kind. */
export function KindIcon({ kind }: { readonly kind: FileKind | 'folder' }) {
  return (
    <span class={`kind kind-${kind}`}>
      <Icon name={kind} />
    </span>
  )
}
